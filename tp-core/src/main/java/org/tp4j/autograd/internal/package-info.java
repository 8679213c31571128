/**
 * The tensors users hold, the dispatcher and the tape. Read {@link org.tp4j.autograd.internal.Dispatch} for how an operation
 * runs and {@link org.tp4j.autograd.internal.BackwardPass} for the backward pass.
 *
 * <p>Most classes refer to each other: a tensor's methods run operations, running one returns tensors and records a step of the
 * tape, and a step holds tensors and runs operations in the backward pass. Bookkeeping beside this cycle stays out of it:
 * gathered activations, pending gradients, checks of layouts.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.autograd.internal;
