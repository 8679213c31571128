/** What the command-line programs share: exit codes, error messages, output files, the terminal. */
@org.jspecify.annotations.NullMarked
package org.tp4j.examples.cli;
