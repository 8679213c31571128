/** What the command-line programs share: output files, the terminal, errors in words. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.cli;
