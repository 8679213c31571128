/** Reductions over ranks of arrays in the host's memory, with the same bits for every engine that uses them. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.reduce;
