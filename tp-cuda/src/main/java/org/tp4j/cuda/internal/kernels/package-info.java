/** The operations of a backend, each by kernels of ours or by cuBLAS. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.kernels;
