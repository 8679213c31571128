/**
 * The operations, one per file: inference, sharding rule, forward on this rank's arrays, and the gradient written with
 * tensor operations, so that gradients are laid out by the same rules as values.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.op.internal;
