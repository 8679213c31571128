package org.tp4j.autograd.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.layout.internal.RedistributePlan;
import org.tp4j.layout.internal.RedistributePlan.Step;
import org.tp4j.layout.internal.Transfers;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Brings gradients to the layouts that their tensors' layouts require. */
final class GradientLayouts {
    private GradientLayouts() {}

    /** The gradient 1 of the scalar where a backward pass starts. */
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

    /** A gradient that the user passes for {@code root}. */
    static EagerTensor given(EagerTensor root, EagerTensor gradient) {
        Layout layout = root.layoutOrNull();
        if (layout == null) {
            if (gradient.layoutOrNull() != null) {
                throw new LayoutException(
                        "backward",
                        "backward: the tensor is on no mesh, but its gradient is laid out " + gradient.layoutOrNull()
                                + "; HINT: give a plain gradient");
            }
            return gradient;
        }
        Layout has = gradient.layoutOrNull();
        if (has != null && !has.mesh().equals(layout.mesh())) {
            throw new LayoutException(
                    "backward",
                    "backward: the tensor and its gradient lie on two meshes, "
                            + has.mesh().differenceTo(layout.mesh()));
        }
        EagerTensor onMesh = has == null ? MeshBorder.meet(gradient, layout.mesh(), "backward", 0, false) : gradient;
        return conform(onMesh, layout.dual(), "the given gradient");
    }

    /** The gradient as the edge asks for it: its layout by {@link #conform}, its type by a conversion. */
    static EagerTensor conform(EagerTensor gradient, Node.Edge edge, String from) {
        return typed(conform(gradient, edge.layout(), from), edge.dtype());
    }

    /** The gradient as another type; a pending sum keeps terms that are wider. */
    static EagerTensor typed(EagerTensor gradient, DType dtype) {
        if (gradient.dtype() == dtype) {
            return gradient;
        }
        NdArray array = gradient.array();
        Layout layout = gradient.layoutOrNull();
        DType terms = layout != null && layout.isPendingSum() ? array.dtype().wider(dtype) : dtype;
        return EagerTensor.of(widened(array, terms), gradient.shape(), layout, dtype);
    }

    /** The array, or a conversion of it to another type. */
    static NdArray widened(NdArray array, DType dtype) {
        if (array.dtype() == dtype) {
            return array;
        }
        NdArray result = NdArray.allocate(array.backend(), dtype, array.shape());
        array.backend().elementwise().cast(array.await(), result);
        return result;
    }

    /** Sum of two gradients of one layout and type, as new memory. */
    static EagerTensor add(EagerTensor a, EagerTensor b) {
        DType terms = a.array().dtype().wider(b.array().dtype());
        NdArray sum = NdArray.allocate(a.backend(), terms, a.array().shape());
        NdArray left = widened(a.local(), terms);
        NdArray right = widened(b.local(), terms);
        a.backend().elementwise().binary(BinaryFunction.ADD, left, right, sum);
        return EagerTensor.of(sum, a.shape(), a.layoutOrNull(), a.dtype());
    }

    /**
     * The gradient in the given layout, without communication: whole values count as either kind, become a pending sum on
     * the first rank only, or are cut.
     */
    static EagerTensor conform(EagerTensor gradient, @Nullable Layout wanted, String from) {
        Layout has = gradient.layoutOrNull();
        if (wanted == null || has == null || has.equals(wanted)) {
            if ((wanted == null) != (has == null)) {
                throw new LayoutException(
                        from,
                        from + ": a gradient arrives " + (has == null ? "on no mesh" : has) + " where "
                                + (wanted == null ? "a plain one" : wanted) + " is due; HINT: compute it with tensor"
                                + " operations from the gradient and the operands");
            }
            return gradient;
        }
        Shape global = gradient.shape();
        NdArray array = gradient.array();
        for (Step step : free(has, wanted, global, from)) {
            array = Transfers.apply(step, array, global);
        }
        return new MeshTensor(array.reshape(wanted.localShape(global)), global, wanted, gradient.dtype());
    }

    private record Route(Layout from, Layout to, Shape global) {}

    /** Steps without communication from one layout to another that represents the same gradient. */
    @SuppressWarnings("unchecked")
    private static List<Step> free(Layout has, Layout wanted, Shape global, String from) {
        Map<Object, Object> cache = has.mesh().cache();
        Route route = new Route(has, wanted, global);
        List<Step> steps = (List<Step>) cache.get(route);
        if (steps == null) {
            steps = RedistributePlan.steps(renamed(has, wanted, global), wanted, global.dims());
            for (Step step : steps) {
                if (step.transition().move().communicates()) {
                    throw arrives(from, has, wanted, step.axis());
                }
            }
            cache.put(route, steps);
        }
        return steps;
    }

    /**
     * {@code has} with the placements of {@code wanted} where both mean the same: whole values of either kind, equal cuts.
     */
    private static Layout renamed(Layout has, Layout wanted, Shape global) {
        List<Placement> placements = new ArrayList<>(has.placements());
        for (int a = 0; a < placements.size(); a++) {
            Placement p = placements.get(a);
            Placement q = wanted.placement(a);
            if (p.isWhole() && q.isWhole() || p instanceof Shard && q instanceof Shard) {
                placements.set(a, q);
            }
        }
        Layout renamed = Layout.of(has.mesh(), global.dims(), placements, order(has, wanted));
        return renamed.cutsLike(has, global) ? renamed : has;
    }

    private static List<Integer> order(Layout has, Layout wanted) {
        List<Integer> order = new ArrayList<>(wanted.cutOrder());
        order.removeIf(a -> !(has.placement(a) instanceof Shard));
        has.cutOrder().stream().filter(a -> !order.contains(a)).forEach(order::add);
        return order;
    }

    private static LayoutException arrives(String from, Layout has, Layout wanted, int axis) {
        return new LayoutException(
                from,
                from + ": a gradient arrives laid out " + has + " where " + wanted
                        + " is due (mesh axis '" + wanted.mesh().axis(axis).name()
                        + "'); HINT: a custom operation's backward must"
                        + " give gradients laid out as the duals of its operands, or whole");
    }

    /** Sum of two gradients of one leaf, of which one is pending where the other is complete. */
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
        return add(left, right);
    }
}
