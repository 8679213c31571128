/** Launching kernels: loaded modules, the argument struct, grids, and index boxes. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.launch;
