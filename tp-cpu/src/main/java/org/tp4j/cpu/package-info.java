/**
 * The CPU backend: {@link org.tp4j.cpu.CpuBackend} with its memory (pooled arrays) and kernels.
 *
 * <p>Nearly every kernel has a {@code Reference...} class that follows its definition for every type; the {@code Cpu...}
 * classes are the fast ones and fall back to it.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu;
