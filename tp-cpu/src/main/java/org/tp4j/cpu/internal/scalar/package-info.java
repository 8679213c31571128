/**
 * Loops over raw arrays that the CPU backend's kernels are made of; not API.
 *
 * <p>{@link org.tp4j.cpu.internal.scalar.FloatKernels} is the interface; the scalar loops of this package implement it, and
 * the ones of {@code org.tp4j.cpu.internal.vector}, which need the incubating Vector API.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.scalar;
