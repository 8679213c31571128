/**
 * Makes tensors and brings them onto a mesh and off it.
 *
 * <p>Read {@link org.tp4j.autograd.internal.Dispatch} for the way of an operation and {@link org.tp4j.autograd.internal.BackwardPass} for the
 * way back.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.autograd;
