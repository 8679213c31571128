package org.tp4j.op;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Invariant;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Replicate;
import org.tp4j.layout.Placement.Shard;

/**
 * The rule of nearly every operation, written like an Einstein sum: each dimension of each operand and result has
 * a label. Where a result has a sharded label it is sharded too; a sharded label that it lacks is summed over, which leaves
 * the result Partial. Labels that are <em>blocked</em> (the row of a softmax) must not be sharded.
 *
 * <p>Along one axis, in this order: shards must be of one label, cut alike, and the others Replicate; a Partial passes
 * what is linear in it, the others being Replicate, and in additive operations Replicate and Invariant go through their →
 * Partial rows; all Replicate gives Replicate; all Invariant gives Invariant; Invariant mixes with nothing else.
 */
public final class LabelRule implements ShardingRule {
    private final TensorSpec[] in;
    private final int[][] inLabels;
    private final int[][] outLabels;
    private final BitSet blocked;
    private final BitSet linear;
    private final BitSet unsliceable;
    private final boolean additive;
    private final ReduceOp contraction;
    private final TargetLayout target;

    private LabelRule(Builder b) {
        this.in = b.in;
        this.inLabels = b.inLabels;
        this.outLabels = b.outLabels;
        this.blocked = b.blocked;
        this.linear = b.linear;
        this.unsliceable = b.unsliceable;
        this.additive = b.additive;
        this.contraction = b.contraction;
        this.target = b.target;
    }

    /** Begins a rule. */
    public static Builder of(TensorSpec[] in) {
        return new Builder(in);
    }

    /**
     * The rule of an elementwise operation that broadcasts: labels are the result's dimensions.
     *
     * @param out the result
     */
    public static Builder elementwise(TensorSpec[] in, TensorSpec out) {
        Builder b = new Builder(in);
        for (int i = 0; i < in.length; i++) {
            b.input(i, ascending(out.dims() - in[i].dims(), in[i].dims()));
        }
        return b.output(ascending(0, out.dims()));
    }

    /** Labels from, from + 1, ... */
    public static int[] ascending(int from, int count) {
        int[] labels = new int[count];
        for (int i = 0; i < count; i++) {
            labels[i] = from + i;
        }
        return labels;
    }

    /** Builds a rule. */
    public static final class Builder {
        private final TensorSpec[] in;
        private final int[][] inLabels;
        private int[][] outLabels = {};
        private final BitSet blocked = new BitSet();
        private final BitSet linear = new BitSet();
        private final BitSet unsliceable = new BitSet();
        private boolean additive;
        private ReduceOp contraction = ReduceOp.SUM;
        private TargetLayout target = TargetLayout.NONE;

        private Builder(TensorSpec[] in) {
            this.in = in;
            this.inLabels = new int[in.length][];
        }

        /** Labels of an operand's dimensions. */
        public Builder input(int i, int... labels) {
            inLabels[i] = labels;
            return this;
        }

        /** Labels of the next result's dimensions. */
        public Builder output(int... labels) {
            int[][] more = java.util.Arrays.copyOf(outLabels, outLabels.length + 1);
            more[outLabels.length] = labels;
            outLabels = more;
            return this;
        }

        /** Labels that must not be sharded. */
        public Builder block(int... labels) {
            for (int label : labels) {
                blocked.set(label);
            }
            return this;
        }

        /** Operands in which the operation is linear while the others are fixed. */
        public Builder linearIn(int... operands) {
            for (int operand : operands) {
                linear.set(operand);
            }
            return this;
        }

        /** The operation is a signed sum of the operands given to {@link #linearIn}, rather than a product. */
        public Builder additive() {
            additive = true;
            return this;
        }

        /** Full-size constants that meet a shard are not sliced implicitly. */
        public Builder noSlicing() {
            unsliceable.set(0, in.length);
            return this;
        }

        /** The reduction left pending by a sharded label that no result has; a sum by default. */
        public Builder contraction(ReduceOp op) {
            contraction = op;
            return this;
        }

        /** How to cut dimensions of the first result whose labels no operand has. */
        public Builder target(TargetLayout layout) {
            target = layout;
            return this;
        }

        /** The rule. */
        public LabelRule build() {
            return new LabelRule(this);
        }
    }

    @Override
    public int inputLabel(int i, int dim) {
        return inLabels[i][dim];
    }

    @Override
    public int outputLabel(int i, int dim) {
        return outLabels[i][dim];
    }

    @Override
    public TargetLayout target() {
        return target;
    }

    @Override
    public Decision decide(int axis, Operand[] operands) {
        int sharded = -1;
        int pending = -1;
        for (int i = 0; i < operands.length; i++) {
            if (operands[i].placement() instanceof Shard) {
                sharded = i;
            } else if (operands[i].placement() instanceof Partial p) {
                if (p.op() != ReduceOp.SUM) {
                    throw new Refusal(
                            "a " + p + " is a statistic, which passes no operation", i, Placement.invariant());
                }
                pending = i;
            }
        }
        if (sharded >= 0 && pending >= 0) {
            throw new Refusal("Shard and Partial do not go together", pending, Placement.replicate());
        }
        if (sharded >= 0) {
            return decideSharded(axis, operands, sharded);
        }
        if (pending >= 0) {
            return decidePending(operands, pending);
        }
        return decideWhole(axis, operands);
    }

    private Decision decideSharded(int axis, Operand[] operands, int first) {
        Shard shard = (Shard) operands[first].placement();
        int label = inLabels[first][shard.dim()];
        long size = sizeOf(label);
        if (blocked.get(label)) {
            throw new Refusal(
                    "it works on dimension " + shard.dim() + " as a whole, which is sharded",
                    first,
                    wholeBeside(operands, first));
        }
        Placement[] inputs = new Placement[operands.length];
        for (int i = 0; i < operands.length; i++) {
            inputs[i] = besideShard(axis, operands, i, first, label, size);
        }
        Placement[] outputs = new Placement[outLabels.length];
        for (int o = 0; o < outputs.length; o++) {
            int at = indexOf(outLabels[o], label);
            outputs[o] = at >= 0 ? new Shard(at, shard.unit()) : new Partial(contraction);
        }
        if (contraction != ReduceOp.SUM && outputs[0] instanceof Partial && operands[first].needsGradient()) {
            throw new Refusal(
                    "the " + outputs[0] + " over a sharded dimension carries no gradient",
                    first,
                    Placement.replicate());
        }
        return new Decision(inputs, outputs);
    }

    /** The whole placement that an operand needs to go with the others: Invariant where they can be, as for a loss. */
    private static Placement wholeBeside(Operand[] operands, int gathered) {
        for (int i = 0; i < operands.length; i++) {
            if (i != gathered && !(operands[i].placement() instanceof Shard) && !operands[i].invariable()) {
                return Placement.replicate();
            }
        }
        return Placement.invariant();
    }

    private Placement besideShard(int axis, Operand[] operands, int i, int first, int label, long size) {
        Operand operand = operands[i];
        Shard model = (Shard) operands[first].placement();
        long unit = model.unit();
        if (operand.placement() instanceof Shard s) {
            if (inLabels[i][s.dim()] != label) {
                throw new Refusal(
                        "operands are cut along dimensions that do not belong together", i, remedyFor(i, label, unit));
            }
            long mine = in[i].shape().size(s.dim());
            if (mine != size || !sameCut(axis, operand, s, model, size)) {
                throw new Refusal(
                        "operands are cut differently: " + operands[first].placement() + " of " + size
                                + " elements and " + s + " of " + mine + " elements",
                        i,
                        remedyFor(i, label, unit));
            }
            return s;
        }
        if (!operand.replicable()) {
            throw new Refusal(
                    "Invariant does not mix with Shard: its gradient would be incomplete",
                    i,
                    remedyFor(i, label, unit));
        }
        int dim = indexOf(inLabels[i], label);
        if (dim >= 0 && in[i].shape().size(dim) == size) {
            if (operand.needsGradient() || unsliceable.get(i)) {
                throw new Refusal(
                        "dimension " + dim + " of operand " + i + " is whole where another's is sharded",
                        i,
                        new Shard(dim, unit));
            }
            return new Shard(dim, unit);
        }
        return Replicate.INSTANCE;
    }

    /** Whether two shards cut {@code size} elements at the same places. */
    private static boolean sameCut(int axis, Operand operand, Shard a, Shard b, long size) {
        if (a.unit() == b.unit()) {
            return true;
        }
        if (operand.layout().cutsOf(a.dim()).size() > 1) {
            return false; // the pieces of the outer cut may have several sizes
        }
        return a.cutsLike(b, size, operand.layout().mesh().axis(axis).size());
    }

    /** Size of a label: that of the operands that do not broadcast along it. */
    private long sizeOf(int label) {
        long size = 0;
        boolean found = false;
        for (int i = 0; i < in.length; i++) {
            int dim = indexOf(inLabels[i], label);
            if (dim >= 0) {
                long mine = in[i].shape().size(dim);
                size = !found || size == 1 ? mine : size;
                found = true;
            }
        }
        return size;
    }

    private Placement remedyFor(int i, int label, long unit) {
        int dim = indexOf(inLabels[i], label);
        return dim >= 0 ? new Shard(dim, unit) : Placement.replicate();
    }

    private Decision decidePending(Operand[] operands, int first) {
        Placement[] inputs = new Placement[operands.length];
        for (int i = 0; i < operands.length; i++) {
            Operand operand = operands[i];
            boolean isPending = operand.placement() instanceof Partial;
            if (isPending && !linear.get(i)) {
                throw new Refusal(
                        "it is not linear in operand " + i + ", which is a pending sum", i, Placement.invariant());
            }
            if (additive && linear.get(i)) {
                inputs[i] = Placement.partial();
            } else if (isPending && i == first) {
                inputs[i] = Placement.partial();
            } else if (isPending) {
                throw new Refusal("a product of two pending sums is not a pending sum", i, Placement.replicate());
            } else if (operand.replicable()) {
                inputs[i] = Replicate.INSTANCE;
            } else {
                throw new Refusal("Invariant does not mix with Partial", i, Placement.replicate());
            }
        }
        Placement[] outputs = new Placement[outLabels.length];
        java.util.Arrays.fill(outputs, Placement.partial());
        return new Decision(inputs, outputs);
    }

    private Decision decideWhole(int axis, Operand[] operands) {
        boolean invariant = true;
        for (Operand operand : operands) {
            invariant &= operand.invariable();
        }
        Placement common = invariant ? Invariant.INSTANCE : Replicate.INSTANCE;
        Placement[] inputs = new Placement[operands.length];
        for (int i = 0; i < operands.length; i++) {
            if (!invariant && !operands[i].replicable()) {
                throw new Refusal(
                        "Invariant does not mix with Replicate: its gradient would be incomplete",
                        i,
                        Placement.replicate());
            }
            inputs[i] = common;
        }
        Placement[] outputs = new Placement[outLabels.length];
        java.util.Arrays.fill(outputs, common);
        Shard made = madeShard(axis);
        if (made != null) {
            outputs[0] = made;
        }
        return new Decision(inputs, outputs);
    }

    /** The target's shard along this axis, if its dimension is one that no operand has. */
    private @Nullable Shard madeShard(int axis) {
        Layout wanted = target.layout();
        if (wanted == null || !(wanted.placement(axis) instanceof Shard s)) {
            return null;
        }
        for (int[] labels : inLabels) {
            if (indexOf(labels, outLabels[0][s.dim()]) >= 0) {
                return null;
            }
        }
        return s;
    }

    private static int indexOf(int[] labels, int label) {
        for (int d = 0; d < labels.length; d++) {
            if (labels[d] == label) {
                return d;
            }
        }
        return -1;
    }
}
