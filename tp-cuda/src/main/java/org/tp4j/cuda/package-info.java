/** The CUDA backend: devices, streams and memory through the JCuda driver API. */
package org.tp4j.cuda;
