package org.tp4j.op.internal;

import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.op.ShardingRule;
import org.tp4j.tensor.Shape;

/**
 * Merging and splitting dimensions. Both shapes fall into groups of equal products; a cut of the first dimension of a group
 * (sizes of 1 aside) becomes a cut of the first dimension of its counterpart if it falls on whole units there. A cut
 * dimension of size 1, of which the first rank has all, becomes another of size 1, or a cut that leaves all to the first
 * rank.
 */
final class ReshapeRule implements ShardingRule {
    private final Shape in;
    private final Shape out;
    private final int[] inLabels;
    private final int[] outLabels;
    /** By group: elements behind one step of the leading dimension, and that dimension in the result. */
    private final long[] inRest;

    private final long[] outRest;
    private final int[] outLeading;

    ReshapeRule(Shape in, Shape out) {
        this.in = in;
        this.out = out;
        this.inLabels = new int[in.dims()];
        this.outLabels = new int[out.dims()];
        this.inRest = new long[in.dims()];
        this.outRest = new long[in.dims()];
        this.outLeading = new int[in.dims()];
        java.util.Arrays.fill(inLabels, -1);
        java.util.Arrays.fill(outLabels, -2);
        java.util.Arrays.fill(outLeading, -1);
        int i = 0;
        int o = 0;
        while (true) {
            while (i < in.dims() && in.size(i) == 1) {
                i++;
            }
            while (o < out.dims() && out.size(o) == 1) {
                o++;
            }
            if (i == in.dims() || o == out.dims()) {
                break;
            }
            int i0 = i;
            int o0 = o;
            long a = in.size(i++);
            long b = out.size(o++);
            while (a != b && (a < b ? i < in.dims() : o < out.dims())) {
                if (a < b) {
                    a *= in.size(i++);
                } else {
                    b *= out.size(o++);
                }
            }
            if (a != b) {
                break; // only where sizes are 0
            }
            inLabels[i0] = i0;
            outLabels[o0] = i0;
            inRest[i0] = in.product(i0 + 1, i);
            outRest[i0] = out.product(o0 + 1, o);
            outLeading[i0] = o0;
        }
        placeOnes();
    }

    /**
     * Finds a place for each dimension of size 1: the next of size 1 in the result, else the group it stands before or
     * behind.
     */
    private void placeOnes() {
        int from = 0; // dimensions of the result before it are taken
        for (int i = 0; i < in.dims(); i++) {
            if (outLeading[i] >= 0) {
                from = outLeading[i] + 1;
            } else if (in.size(i) == 1) {
                int to = from;
                while (to < out.dims() && out.size(to) != 1 && outLabels[to] < 0) {
                    to++; // the rest of a group
                }
                if (to == out.dims()) {
                    to = from - 1;
                } else if (out.size(to) == 1) {
                    from = to + 1;
                    outLabels[to] = i;
                }
                if (to >= 0) {
                    outLeading[i] = to;
                    inLabels[i] = outLabels[to];
                }
            }
        }
    }

    @Override
    public int inputLabel(int i, int dim) {
        return inLabels[dim];
    }

    @Override
    public int outputLabel(int i, int dim) {
        return outLabels[dim];
    }

    @Override
    public Decision decide(int axis, Operand[] operands) {
        Placement p = operands[0].placement();
        Placement result = p;
        if (p instanceof Shard s) {
            result = carry(axis, operands[0], s);
        } else if (p instanceof Partial partial && partial.op() != ReduceOp.SUM) {
            throw new Refusal("a " + p + " is a statistic, which passes no operation", 0, Placement.invariant());
        }
        return new Decision(new Placement[] {p}, new Placement[] {result});
    }

    private Shard carry(int axis, Operand operand, Shard s) {
        int to = outLeading[s.dim()];
        if (to < 0) {
            throw new Refusal(
                    "from " + in + " to " + out + " it merges dimension " + s.dim()
                            + ", which is sharded, into an outer one",
                    0,
                    Placement.replicate());
        }
        if (in.size(s.dim()) == 1) {
            return new Shard(to, Math.max(1, out.size(to)));
        }
        long elements = s.unit() * inRest[s.dim()];
        if (elements % outRest[s.dim()] == 0 && elements >= outRest[s.dim()]) {
            return new Shard(to, elements / outRest[s.dim()]);
        }
        int ranks = operand.layout().mesh().axis(axis).size();
        boolean whole = operand.layout().cutsOf(s.dim()).size() == 1;
        for (int r = 1; whole && r < ranks; r++) {
            whole = s.begin(in.size(s.dim()), r, ranks) * inRest[s.dim()]
                    == new Shard(to, 1).begin(out.size(to), r, ranks) * outRest[s.dim()];
        }
        if (!whole) {
            long unit = outRest[s.dim()] / gcd(outRest[s.dim()], inRest[s.dim()]);
            throw new Refusal(
                    "from " + in + " to " + out + " the cut of dimension " + s.dim() + " (" + in.size(s.dim())
                            + " elements over " + ranks + " ranks, " + s + ") does not fall on whole units of " + unit,
                    0,
                    new Shard(s.dim(), unit));
        }
        return new Shard(to, 1);
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}
