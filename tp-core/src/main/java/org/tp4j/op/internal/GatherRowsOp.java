package org.tp4j.op.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TargetLayout;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Rows of a table [v, n] by ids [...]: an embedding. Where the table is sharded by rows the ids must be whole and the
 * result is Partial: each rank looks up the ids it owns (vocabulary-parallel; Shoeybi et al., arXiv 1909.08053, section 3).
 *
 * @param paddingId an id whose row gets no gradient, or {@code Long.MIN_VALUE}
 */
public record GatherRowsOp(long paddingId) implements Operation {
    /** Every row gets a gradient. */
    public static final long NO_PADDING = Long.MIN_VALUE;

    @Override
    public String name() {
        return "embedding";
    }

    /** One rank's term is the row, the others' are zeros: their sum is exact in any type. */
    @Override
    public DType termType(DType result, @Nullable DType requested) {
        return result;
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dims() != 2 || !in[0].dtype().isFloating() || !in[1].dtype().isInteger()) {
            throw new IllegalArgumentException(
                    "embedding needs a float table [v, n] and integer ids, found " + in[0] + " and " + in[1]);
        }
        Shape ids = in[1].shape();
        long[] sizes = java.util.Arrays.copyOf(ids.toArray(), ids.dims() + 1);
        sizes[ids.dims()] = in[0].shape().size(1);
        return new TensorSpec(in[0].dtype(), Shape.of(sizes));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int ids = in[1].dims(); // labels: ids, then n, then v
        return LabelRule.of(in)
                .input(0, ids + 1, ids)
                .input(1, LabelRule.ascending(0, ids))
                .output(LabelRule.ascending(0, ids + 1))
                .linearIn(0)
                .noSlicing()
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        long rows = context.inputRegion(0).global().size(0);
        Ids.check(name(), "id", in[1], rows, Long.MIN_VALUE, context.inputRegion(1));
        NdArray out = context.allocate(0);
        out.backend().loss().gatherRows(in[0], in[1], context.inputRegion(0).offsets()[0], out);
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return i == 1;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Gradient gradient = new Gradient(c.inputShape(0).size(0), paddingId, c.inputLayout(0), c.gradientType(0));
        c.give(0, c.run(gradient, g, c.input(1)));
    }

    /**
     * Gradient of the table from dy and ids; repeated ids add up.
     *
     * @param rows number of rows of the whole table
     * @param paddingId the row that gets no gradient
     * @param target layout of the table
     * @param result type of the gradient: that of dy, or 32 bits where that has 16
     */
    record Gradient(long rows, long paddingId, TargetLayout target, DType result) implements Operation {
        @Override
        public String name() {
            return "gradient of embedding";
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return new TensorSpec(result, Shape.of(rows, in[0].shape().size(-1)));
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            int ids = in[1].dims();
            return LabelRule.of(in)
                    .input(0, LabelRule.ascending(0, ids + 1))
                    .input(1, LabelRule.ascending(0, ids))
                    .output(ids + 1, ids)
                    .linearIn(0)
                    .target(target)
                    .build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            out.backend().elementwise().fill(out, 0);
            out.backend()
                    .loss()
                    .scatterAddRows(in[0], in[1], context.outputRegion(0).offsets()[0], paddingId, out);
            return out;
        }
    }
}
