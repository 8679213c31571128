/**
 * What an operation is: what it computes on this rank's arrays, its gradient written with tensor operations, and its
 * {@linkplain org.tp4j.op.ShardingRule sharding rule}. A custom operation implements {@link org.tp4j.op.Operation}; the
 * library's own are in {@code org.tp4j.op.internal}, one per file.
 *
 * <p>Nothing here knows the tape or how tensors are represented: an {@link org.tp4j.op.Operation} is a value, and the
 * package above runs it.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.op;
