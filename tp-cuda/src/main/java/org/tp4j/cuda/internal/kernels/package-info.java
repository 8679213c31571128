/** The backend's operations, each by our own kernels or by cuBLAS. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.kernels;
