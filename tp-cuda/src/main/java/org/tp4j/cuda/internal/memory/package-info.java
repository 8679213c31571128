/** Device memory: the pool, leases of its blocks, tensor storage, workspaces, and pinned buffers for copies. */
@org.jspecify.annotations.NullMarked
package org.tp4j.cuda.internal.memory;
