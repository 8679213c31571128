package org.tp4j.autograd.internal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.ShardingRule.Operand;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.Shape;

/**
 * The layouts an operation's operands must have and its results will have: the sharding rule applied to every axis, cached
 * on the mesh by operation, layouts, types, shapes and which operands require gradients.
 */
final class Decisions {
    private static final int MOST_CACHED = 16_384;

    private Decisions() {}

    /**
     * A decision.
     *
     * @param terms types of this rank's parts of the results, wider than theirs for some pending sums
     * @param widened the type to bring floating operands to, since one is a pending sum of wider terms; null for none
     */
    record Decided(
            Layout[] inputs,
            TensorSpec[] results,
            Layout[] outputs,
            Shape[] localShapes,
            DType[] terms,
            @Nullable DType widened,
            boolean addsConstants) {
        Layout input(int i) {
            return inputs[i];
        }

        TensorSpec result(int i) {
            return results[i];
        }

        Layout output(int i) {
            return outputs[i];
        }

        Shape localShape(int i) {
            return localShapes[i];
        }

        DType term(int i) {
            return terms[i];
        }
    }

    /** What a decision depends on. */
    private static final class Key {
        private static final int FACTS = 6;

        private final Object operation;
        private final @Nullable Object[] facts;
        private final int hash;

        Key(Operation operation, EagerTensor[] operands, boolean recording) {
            this.operation = operation.key();
            this.facts = new @Nullable Object[FACTS * operands.length];
            for (int i = 0; i < operands.length; i++) {
                EagerTensor t = operands[i];
                facts[FACTS * i] = ((MeshTensor) t).layout();
                facts[FACTS * i + 1] = t.shape();
                facts[FACTS * i + 2] = t.dtype();
                facts[FACTS * i + 3] = t.array().dtype();
                facts[FACTS * i + 4] = t.reduceType();
                facts[FACTS * i + 5] = (recording && t.requiresGrad() ? 1 : 0) | (t.isParameter() ? 2 : 0);
            }
            int h = this.operation.hashCode();
            for (@Nullable Object fact : facts) {
                h = h * 31 + Objects.hashCode(fact);
            }
            this.hash = h;
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Key that
                    && hash == that.hash
                    && operation.equals(that.operation)
                    && Arrays.equals(facts, that.facts);
        }
    }

    /** The decision for these operands, all on {@code mesh}. */
    static Decided of(Operation operation, EagerTensor[] operands, DeviceMesh mesh, boolean recording) {
        @SuppressWarnings("unchecked")
        Map<Key, Decided> cache = (Map<Key, Decided>)
                mesh.cache().computeIfAbsent(Decisions.class, c -> new java.util.concurrent.ConcurrentHashMap<>());
        Key key = new Key(operation, operands, recording);
        Decided known = cache.get(key);
        if (known == null) {
            known = decide(operation, operands, mesh, recording);
            if (cache.size() > MOST_CACHED) {
                cache.clear();
            }
            cache.put(key, known);
        }
        return known;
    }

    /** Types and shapes of operands. */
    static TensorSpec[] specs(EagerTensor[] operands) {
        TensorSpec[] specs = new TensorSpec[operands.length];
        for (int i = 0; i < specs.length; i++) {
            specs[i] = new TensorSpec(operands[i].dtype(), operands[i].shape());
        }
        return specs;
    }

    private static Decided decide(Operation operation, EagerTensor[] operands, DeviceMesh mesh, boolean recording) {
        TensorSpec[] in = specs(operands);
        TensorSpec[] out = operation.inferAll(in);
        ShardingRule rule = operation.rule(in, out);
        int axes = mesh.axisCount();
        Placement[][] inputs = new Placement[in.length][axes];
        Placement[][] outputs = new Placement[out.length][axes];
        for (int axis = 0; axis < axes; axis++) {
            Operand[] seen = new Operand[in.length];
            for (int i = 0; i < in.length; i++) {
                Layout layout = ((MeshTensor) operands[i]).layout();
                seen[i] = new Operand(
                        layout,
                        layout.placement(axis),
                        recording && operands[i].requiresGrad(),
                        operands[i].isParameter());
            }
            ShardingRule.Decision decision;
            try {
                decision = rule.decide(axis, seen);
            } catch (ShardingRule.Refusal refusal) {
                throw explain(operation, operands, mesh, axis, refusal);
            }
            for (int i = 0; i < in.length; i++) {
                inputs[i][axis] = decision.inputs()[i];
            }
            for (int o = 0; o < out.length; o++) {
                outputs[o][axis] = decision.outputs()[o];
            }
        }
        Layout[] inputLayouts = inputLayouts(operation, operands, mesh, rule, inputs);
        Layout[] outputLayouts = new Layout[out.length];
        Shape[] localShapes = new Shape[out.length];
        for (int o = 0; o < out.length; o++) {
            outputLayouts[o] = ordered(mesh, out[o].dims(), outputs[o], order(rule, o, outputs[o], inputLayouts));
            localShapes[o] = localShape(operation, outputLayouts[o], out[o].shape());
        }
        DType[] terms = new DType[out.length];
        DType passed = passedTerms(operands, inputLayouts);
        for (int o = 0; o < out.length; o++) {
            terms[o] = out[o].dtype();
            if (outputLayouts[o].isPendingSum() && terms[o].isFloating()) {
                terms[o] = passed == null ? terms[o] : passed.wider(terms[o]);
                if (leavesPending(outputs[o], inputs)) {
                    terms[o] = terms[o].wider(operation.termType(out[o].dtype(), requested(operands)));
                }
            }
        }
        DType widened = passed == null ? null : terms[0];
        return new Decided(
                inputLayouts, out, outputLayouts, localShapes, terms, widened, addsConstants(mesh, outputs[0]));
    }

    /** What a parameter among the operands says of the terms of pending sums; null if none does. */
    private static @Nullable DType requested(EagerTensor[] operands) {
        for (EagerTensor operand : operands) {
            if (operand.reduceType() != null) {
                return operand.reduceType();
            }
        }
        return null;
    }

    /** The widest type of the terms of pending sums among the operands, or null if there is none. */
    private static @Nullable DType passedTerms(EagerTensor[] operands, Layout[] layouts) {
        DType widest = null;
        for (int i = 0; i < operands.length; i++) {
            DType mine = operands[i].array().dtype();
            if (layouts[i].isPendingSum() && mine.isFloating()) {
                widest = widest == null ? mine : widest.wider(mine);
            }
        }
        return widest;
    }

    /** Whether a sum is pending along an axis where none was pending in an operand. */
    private static boolean leavesPending(Placement[] output, Placement[][] inputs) {
        for (int axis = 0; axis < output.length; axis++) {
            boolean made = output[axis].isPartialSum();
            for (Placement[] input : inputs) {
                made &= !input[axis].isPartialSum();
            }
            if (made) {
                return true;
            }
        }
        return false;
    }

    private static Shape localShape(Operation operation, Layout layout, Shape global) {
        try {
            return layout.localShape(global);
        } catch (IllegalArgumentException e) {
            throw new LayoutException(
                    operation.name(),
                    operation.name() + ": its result would be laid out " + layout + ", but " + e.getMessage()
                            + "; HINT: redistribute the operand to a layout with fewer cuts or other units first");
        }
    }

    private static Layout[] inputLayouts(
            Operation operation, EagerTensor[] operands, DeviceMesh mesh, ShardingRule rule, Placement[][] inputs) {
        Layout[] layouts = new Layout[operands.length];
        for (int i = 0; i < layouts.length; i++) {
            Layout has = ((MeshTensor) operands[i]).layout();
            int dims = operands[i].shape().dims();
            layouts[i] = has.placements().equals(Arrays.asList(inputs[i]))
                    ? has
                    : ordered(mesh, dims, inputs[i], cutOrder(has, operands));
        }
        if (mesh.axisCount() > 1) {
            requireOneOrder(operation, operands, rule, layouts);
        }
        return layouts;
    }

    /** Operands cut by several axes along dimensions that belong together must be cut in one order. */
    private static void requireOneOrder(
            Operation operation, EagerTensor[] operands, ShardingRule rule, Layout[] layouts) {
        java.util.Map<Integer, List<Integer>> orders = new java.util.HashMap<>();
        for (int i = 0; i < layouts.length; i++) {
            for (int d = 0; d < operands[i].shape().dims(); d++) {
                List<Integer> cuts = layouts[i].cutsOf(d);
                List<Integer> others = cuts.size() > 1 ? orders.putIfAbsent(rule.inputLabel(i, d), cuts) : null;
                if (others != null && !others.equals(cuts)) {
                    throw new LayoutException(
                            operation.name(),
                            operation.name() + ": operands are cut by the same axes in different orders: "
                                    + Arrays.toString(layouts) + "; HINT: redistribute one to the layout of the other");
                }
            }
        }
    }

    /** The order of an operand's own cuts, then, for those it is given to fit the others, the order of theirs. */
    private static List<Integer> cutOrder(Layout layout, EagerTensor[] operands) {
        List<Integer> order = new ArrayList<>();
        addMissing(order, layout.cuts());
        for (EagerTensor other : operands) {
            addMissing(order, ((MeshTensor) other).layout().cuts());
        }
        addMissing(order, layout.cutOrder());
        return order;
    }

    private static void addMissing(List<Integer> order, List<Integer> axes) {
        for (int axis : axes) {
            if (!order.contains(axis)) {
                order.add(axis);
            }
        }
    }

    /** The order in which axes cut the result's dimensions: that of an operand's dimension of the same label. */
    private static List<Integer> order(ShardingRule rule, int o, Placement[] placements, Layout[] inputs) {
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < inputs.length; i++) {
            Layout input = inputs[i];
            for (Placement p : placements) {
                if (p instanceof Placement.Shard s) {
                    for (int axis = 0; axis < placements.length; axis++) {
                        if (input.placement(axis) instanceof Placement.Shard t
                                && rule.inputLabel(i, t.dim()) == rule.outputLabel(o, s.dim())) {
                            addMissing(order, input.cutsOf(t.dim()));
                        }
                    }
                }
            }
        }
        Layout target = rule.target().layout();
        if (target != null) {
            addMissing(order, target.cuts());
        }
        for (int a = 0; a < placements.length; a++) {
            if (!order.contains(a)) {
                order.add(a);
            }
        }
        return order;
    }

    private static Layout ordered(DeviceMesh mesh, int dims, Placement[] placements, List<Integer> order) {
        return Layout.of(mesh, dims, Arrays.asList(placements), order);
    }

    private static boolean addsConstants(DeviceMesh mesh, Placement[] placements) {
        for (int axis = 0; axis < placements.length; axis++) {
            if (placements[axis] instanceof Placement.Partial && mesh.axis(axis).coordinate() != 0) {
                return false;
            }
        }
        return true;
    }

    private static LayoutException explain(
            Operation operation, EagerTensor[] operands, DeviceMesh mesh, int axis, ShardingRule.Refusal refusal) {
        String path = ExecutionContext.current().modulePath();
        StringBuilder text = new StringBuilder(operation.name());
        text.append(path.isEmpty() ? "" : " in module '" + path + "'");
        text.append(": ").append(refusal.getMessage());
        text.append(" on mesh axis '").append(mesh.axis(axis).name()).append("'. Operands:");
        for (int i = 0; i < operands.length; i++) {
            text.append(i == 0 ? " " : ", ").append(operands[i].dtype()).append(operands[i].shape());
            text.append(' ').append(operands[i].layoutOrNull());
            text.append(operands[i].requiresGrad() ? " (requires gradient)" : "");
        }
        Placement remedy = refusal.remedy();
        if (remedy != null) {
            text.append("; HINT: redistribute operand ")
                    .append(refusal.operand())
                    .append(" to ")
                    .append(remedy);
            text.append(" on axis '").append(mesh.axis(axis).name()).append("' first");
        }
        return new LayoutException(operation.name(), text.toString());
    }
}
