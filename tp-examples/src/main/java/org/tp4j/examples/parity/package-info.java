/** The parity check: trains on one rank as well and compares losses and parameters. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.parity;
