/** Arrays of the host: pooled storage, and ways to traverse them. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cpu.internal.memory;
