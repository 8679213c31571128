package org.tp4j.autograd;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.layout.RedistributePlan;
import org.tp4j.layout.Transfers;
import org.tp4j.tensor.NdArray;

/** Brings gradients to the layouts their tensors' layouts demand. */
final class GradientLayouts {
    private GradientLayouts() {}

    /** The gradient 1 of a scalar from which a backward pass starts. */
    static EagerTensor seed(EagerTensor root) {
        if (root.shape().elements() != 1) {
            throw new IllegalStateException("backward() starts at a scalar, but this tensor has shape " + root.shape()
                    + "; HINT: reduce it with sum() or mean(), or give its gradient: backward(gradient)");
        }
        Layout layout = root.layoutOrNull();
        for (int a = 0; layout != null && a < layout.placements().size(); a++) {
            Placement p = layout.placement(a);
            if (p != Placement.Invariant.INSTANCE && !p.isPartialSum()) {
                String axis = layout.mesh().axis(a).name();
                throw new LayoutException(
                        "backward",
                        "backward(): a loss must be Invariant or a pending sum on every axis,"
                                + " but on mesh axis '" + axis + "' it is " + p + "; HINT: redistribute(\"" + axis
                                + "\", Placement.invariant()) first");
            }
        }
        NdArray one = NdArray.full(root.backend(), root.dtype(), root.array().shape(), 1);
        return EagerTensor.of(one, root.shape(), layout == null ? null : layout.dual());
    }

    /** A gradient that the user gives for {@code root}. */
    static EagerTensor given(EagerTensor root, EagerTensor gradient) {
        Layout layout = root.layoutOrNull();
        if (layout == null) {
            if (gradient.layoutOrNull() != null) {
                throw new LayoutException(
                        "backward",
                        "backward: the tensor is on no mesh, but its gradient is laid out " + gradient.layoutOrNull());
            }
            return gradient;
        }
        EagerTensor onMesh = gradient.layoutOrNull() == null
                ? MeshBorder.meet(gradient, layout.mesh(), "backward", 0, false)
                : gradient;
        return conform(onMesh, layout.dual(), "the given gradient");
    }

    /**
     * The gradient in the layout wanted, without communication: whole values pass as either kind, become a pending sum on
     * the first rank only, or are cut.
     */
    static EagerTensor conform(EagerTensor gradient, @Nullable Layout wanted, String from) {
        Layout has = gradient.layoutOrNull();
        if (wanted == null || has == null || has.equals(wanted)) {
            if ((wanted == null) != (has == null)) {
                throw new IllegalStateException(
                        "a gradient of " + from + " arrives " + has + " where " + wanted + " is due");
            }
            return gradient;
        }
        NdArray array = gradient.array();
        Layout at = has;
        for (int a = 0; a < wanted.placements().size(); a++) {
            Placement p = at.placement(a);
            Placement q = wanted.placement(a);
            if (p.equals(q) || p.isWhole() && q.isWhole()) {
                continue;
            }
            boolean free = p.isWhole() && (q instanceof Partial || q instanceof Shard);
            boolean sameCut = p instanceof Shard && q instanceof Shard;
            if (!free && !sameCut) {
                throw arrives(from, has, wanted, a);
            }
            if (free) {
                Layout after = at.with(a, q);
                array = Transfers.apply(new RedistributePlan.Step(a, at, after), array.await(), gradient.shape());
                at = after;
            }
        }
        if (!wanted.region(gradient.shape()).equals(at.region(gradient.shape()))) {
            throw arrives(from, has, wanted, 0);
        }
        return new MeshTensor(array, gradient.shape(), wanted);
    }

    private static LayoutException arrives(String from, Layout has, Layout wanted, int axis) {
        return new LayoutException(
                from,
                from + ": a gradient arrives laid out " + has + " where " + wanted
                        + " is due (mesh axis '" + wanted.mesh().axis(axis).name()
                        + "'); HINT: a custom operation's backward must"
                        + " give gradients laid out as the duals of its operands, or whole");
    }

    /** Sum of two gradients of one leaf, one of which is pending where the other is complete. */
    static EagerTensor addPending(EagerTensor a, EagerTensor b) {
        Layout first = java.util.Objects.requireNonNull(a.layoutOrNull());
        Layout second = java.util.Objects.requireNonNull(b.layoutOrNull());
        Layout common = first;
        List<Placement> others = second.placements();
        for (int axis = 0; axis < others.size(); axis++) {
            if (others.get(axis) instanceof Partial && first.placement(axis).isWhole()) {
                common = common.with(axis, Placement.partial());
            }
        }
        EagerTensor left = conform(a, common, "gradient");
        EagerTensor right = conform(b, common, "gradient");
        NdArray sum = NdArray.allocate(a.backend(), a.dtype(), left.array().shape());
        a.backend().elementwise().binary(org.tp4j.tensor.BinaryKernel.ADD, left.local(), right.local(), sum);
        return EagerTensor.of(sum, a.shape(), common);
    }
}
