/**
 * Tests of GPU code without a GPU: {@link org.tp4j.cudasim.SimulatedCuda} on a JUnit test, or {@link
 * org.tp4j.cudasim.CudaSimulator} for other programs. The driver, cuBLAS, NVRTC and NCCL are simulated on the host's memory;
 * kernels are compiled by g++.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.cudasim;
