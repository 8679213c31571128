/** The CUDA backend: devices, streams and memory through the JCuda driver API. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda;
