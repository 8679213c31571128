/** The CUDA backend: one object per GPU that assembles the operations, and the libraries it needs. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda;
