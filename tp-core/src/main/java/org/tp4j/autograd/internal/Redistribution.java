package org.tp4j.autograd.internal;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.internal.RedistributePlan;
import org.tp4j.layout.internal.RedistributePlan.Step;
import org.tp4j.layout.internal.Transfers;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Changes of layout on the tape: forward the rows of the table, backward their duals in the other direction. */
final class Redistribution {
    private Redistribution() {}

    private record Route(Layout from, Layout to, Shape global) {}

    @SuppressWarnings("unchecked")
    private static List<Step> steps(Layout from, Layout to, Shape global) {
        return (List<Step>) from.mesh().cache().computeIfAbsent(new Route(from, to, global), Redistribution::plan);
    }

    private static List<Step> plan(Object key) {
        Route route = (Route) key;
        try {
            route.to.region(route.global);
        } catch (IllegalArgumentException e) {
            throw new LayoutException(
                    "redistribute",
                    "redistribute from " + route.from + " to " + route.to + ": " + e.getMessage()
                            + "; HINT: shard in units that divide what is cut");
        }
        return RedistributePlan.steps(route.from, route.to, route.global.dims());
    }

    /** The tensor laid out as {@code target}. */
    static MeshTensor apply(MeshTensor tensor, Layout target, boolean recording) {
        Shape global = tensor.shape();
        List<Step> steps = steps(tensor.layout(), target, global);
        for (Step step : steps) {
            if (recording && !step.transition().carriesGradient()) {
                throw new LayoutException(
                        "redistribute",
                        "redistribute from " + tensor.layout() + " to " + target
                                + ": a pending reduction other than a sum carries no gradient;"
                                + " HINT: detach() the tensor first");
            }
        }
        NdArray carried = carry(steps, tensor.array(), global, tensor.dtype()).await();
        MeshTensor result = new MeshTensor(carried, global, target, tensor.dtype());
        if (recording) {
            result.computedBy(new Back(steps, tensor, global));
        }
        return result;
    }

    /** The tensor laid out as {@code target}; it may still be arriving and carries no gradient. */
    static MeshTensor gather(MeshTensor tensor, Layout target) {
        Shape global = tensor.shape();
        NdArray carried = carry(steps(tensor.layout(), target, global), tensor.array(), global, tensor.dtype());
        return new MeshTensor(carried, global, target, tensor.dtype());
    }

    /** Applies the steps; the terms of a sum become of its own type, {@code dtype}, once it is complete. */
    private static NdArray carry(List<Step> steps, NdArray array, Shape global, DType dtype) {
        NdArray at = array;
        for (Step step : steps) {
            at = Transfers.apply(step, at, global);
            if (at.dtype() != dtype && !step.after().isPendingSum()) {
                at = Transfers.converted(at, dtype);
            }
        }
        return at;
    }

    /**
     * An operand in the layout that was decided. A parameter that is promoted from Invariant to Replicate stays the
     * leaf it is: its gradient arrives Partial and is summed together with all others when due.
     */
    static EagerTensor bring(MeshTensor operand, Layout wanted, boolean recording) {
        Layout has = operand.layout();
        if (has.equals(wanted)) {
            return operand;
        }
        boolean tracked = recording && operand.requiresGrad();
        boolean relabel = true;
        for (int a = 0; a < wanted.placements().size(); a++) {
            boolean same = has.placement(a).equals(wanted.placement(a));
            boolean whole = has.placement(a).isWhole() && wanted.placement(a).isWhole();
            relabel &= same || whole && (!tracked || operand.isParameter());
        }
        if (relabel) {
            return new MeshTensor(operand.array(), operand.shape(), wanted, operand.dtype()).usedAs(operand);
        }
        return (EagerTensor) operand.redistribute(wanted);
    }

    /** The tape's step of a redistribution; its collective starts as soon as the gradient is complete. */
    private static final class Back extends Node {
        private final List<Step> steps;
        private final Shape global;

        Back(List<Step> forward, MeshTensor from, Shape global) {
            super(new @Nullable Edge[] {Edge.to(from)});
            this.global = global;
            this.steps = new ArrayList<>(forward.size());
            for (int i = forward.size() - 1; i >= 0; i--) {
                Step step = forward.get(i);
                steps.add(
                        new Step(step.axis(), step.after().dual(), step.before().dual()));
            }
        }

        @Override
        String name() {
            return "redistribute";
        }

        @Override
        boolean runsAtOnce() {
            return true;
        }

        @Override
        void backward(BackwardPass pass, EagerTensor gradient) {
            Edge edge = edges()[0];
            if (edge != null) {
                DType dtype = gradient.dtype().wider(edge.dtype());
                NdArray back = carry(steps, gradient.array(), global, dtype);
                Layout layout = steps.get(steps.size() - 1).after();
                pass.deliver(this, edge, new MeshTensor(back, global, layout, dtype));
            }
        }
    }
}
