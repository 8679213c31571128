/**
 * Creates tensors, brings them onto a mesh and runs custom operations.
 *
 * <p>Read {@code Dispatch} in the internal package for how an operation runs, and {@code BackwardPass} for the way back.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.autograd;
