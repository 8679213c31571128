/** The kernels the CPU backend runs: fast paths where there are any, the reference kernels otherwise. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.kernels;
