/** Captured steps: CUDA graphs, the numbers that change between their runs, and the checks they make. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.capture;
