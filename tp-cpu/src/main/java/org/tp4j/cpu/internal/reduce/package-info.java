/** Reductions over ranks of arrays in host memory, with the same bits in every engine that uses them. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.reduce;
