/** A run as a self-contained HTML report: curves, diagrams of the shards, tables of the communication. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.report;
