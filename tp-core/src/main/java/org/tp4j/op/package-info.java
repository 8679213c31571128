/**
 * Operations, one a file: what each computes on this rank's arrays, its gradient written with tensor operations (so that
 * gradients are laid out by the same rules as values), and its sharding rule.
 *
 * <p>Nothing here knows the tape or how tensors are represented: an {@link org.tp4j.op.Operation} is a value, and the
 * package above runs it.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.op;
