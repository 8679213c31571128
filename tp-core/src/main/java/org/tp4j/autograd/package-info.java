/**
 * Runs operations and their gradients: the tensors users hold, the dispatcher that decides layouts and computes, the tape,
 * and the ways onto a mesh and off it.
 *
 * <p>Read {@link org.tp4j.autograd.Dispatch} for the way of an operation and {@link org.tp4j.autograd.BackwardPass} for the
 * way back.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.autograd;
