/** The CUDA backend: one object per GPU that assembles the operations, and the libraries it stands on. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda;
