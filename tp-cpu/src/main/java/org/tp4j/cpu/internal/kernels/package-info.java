/** The kernels of the CPU backend: fast paths where there are any, the reference kernels otherwise. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.kernels;
