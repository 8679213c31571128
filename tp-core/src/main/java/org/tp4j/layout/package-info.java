/**
 * How a tensor is laid out on a mesh, and the one table of changes from one layout to another.
 *
 * <p>{@link org.tp4j.layout.Placement} has four cases an axis; a {@link org.tp4j.layout.Layout} is one placement for each
 * axis of a mesh; {@link org.tp4j.layout.Transition} is the table of changes, forward and backward; {@code
 * RedistributePlan} in the internal package splits a change of several axes into rows of it, and {@code Transfers} carries a
 * row out on this rank's array.
 */
@org.jspecify.annotations.NullMarked
package org.tp4j.layout;
