package org.tp4j.layout;

import org.tp4j.tensor.Tensor;

/**
 * A tensor on a mesh: {@link #shape()} is that of the whole tensor, {@link #layout()} says what each rank holds, and
 * {@link #local()} is this rank's part.
 *
 * <p>Operations work on the whole tensor and decide from the layouts of their operands what each rank computes; they never
 * communicate (with the one exception that a parameter's gradient is summed when it is due). {@link #redistribute} does.
 */
public interface DTensor extends Tensor {
    /** Its layout on the mesh. */
    Layout layout();

    /**
     * The same tensor in another layout; the gradient goes back by the dual row of the table. Redistributing twice to the
     * same target returns the same tensor.
     *
     * @param placements one for each axis of the mesh
     */
    DTensor redistribute(Placement... placements);

    /** As {@link #redistribute(Placement...)} with a whole layout, which may hold a cut order. */
    DTensor redistribute(Layout target);

    /** As {@link #redistribute(Placement...)}, changing one axis only. */
    default DTensor redistribute(String axis, Placement placement) {
        return redistribute(layout().with(
                        layout().mesh().axisIndex(axis),
                        Layout.of(layout().mesh().slice(axis), shape().dims(), placement)
                                .placement(0)));
    }

    /** The whole value on every rank as a plain tensor (Invariant on every axis). */
    Tensor fullTensor();

    /**
     * This rank's part as a plain tensor. Leaving the mesh, the caller declares how the gradient that will arrive is laid
     * out.
     *
     * @param gradientPlacements for each axis; on an axis where this is Partial or Shard, the dual is the only choice
     * @throws LayoutException if a placement is not one the gradient of this tensor can have
     */
    Tensor toLocal(Placement... gradientPlacements);
}
