/** Finds and opens NVIDIA's shared libraries and JCuda's natives. Nothing here calls CUDA. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.libraries;
