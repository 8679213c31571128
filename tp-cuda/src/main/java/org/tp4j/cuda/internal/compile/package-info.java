/** CUDA C++ to loadable images: sources, headers generated from Java, NVRTC, and the cache on disk. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.compile;
