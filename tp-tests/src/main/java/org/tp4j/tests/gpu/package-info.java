/**
 * The check of a machine with a GPU, {@code scripts/gpu-check.sh}: stages, each a process with a time limit; what came of them
 * as one JSON file and a table; the goals the measurements are compared with.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.tests.gpu;
