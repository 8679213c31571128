/** Parts of a self-contained HTML report: charts, layout pictures, tables. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.report;
