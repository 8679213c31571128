/** Matrix products by OpenBLAS, or in Java where its natives are missing. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.blas;
