/** The command {@code scripts/run-mlp.sh}: arguments, console output, metrics, and the run itself. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.cli.mlp;
