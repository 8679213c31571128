/**
 * Optimizers, gradient clipping and learning-rate schedules. Written for one rank; on a mesh the state follows each
 * parameter's shards, norms count every parameter once, and the deferred gradient sums run first.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.optim;
