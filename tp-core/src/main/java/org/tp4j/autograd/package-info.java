/**
 * Creates tensors, brings them onto a mesh and runs custom operations.
 *
 * <p>Read {@link org.tp4j.autograd.internal.Dispatch} for how an operation runs and {@link
 * org.tp4j.autograd.internal.BackwardPass} for the way back.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.autograd;
