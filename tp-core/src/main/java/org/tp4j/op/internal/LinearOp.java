package org.tp4j.op.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Y = X Wᵀ for X [..., k] and W [n, k]: the product of a linear layer. Backward: dX = dY W, passed on first so that its
 * all-reduce runs under the second product, and dW = dYᵀ X.
 */
public record LinearOp() implements Operation {
    @Override
    public String name() {
        return "linear";
    }

    @Override
    public DType termType(DType result, @Nullable DType requested) {
        return Matrices.termType(result, requested);
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        Matrices.checkFloating(name(), in[0], in[1]);
        Shape x = in[0].shape();
        Shape w = in[1].shape();
        if (x.dims() < 1 || w.dims() != 2 || x.size(-1) != w.size(1)) {
            throw new IllegalArgumentException("linear of x " + x + " and weight " + w
                    + "; HINT: a weight is [out, in], and in must be the last size of x");
        }
        return new TensorSpec(in[0].dtype(), x.with(-1, w.size(0)));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int rows = in[0].dims() - 1; // labels: rows, then k, then n
        int[] result = LabelRule.ascending(0, rows + 1);
        result[rows] = rows + 1;
        return LabelRule.of(in)
                .input(0, LabelRule.ascending(0, rows + 1))
                .input(1, rows + 1, rows)
                .output(result)
                .linearIn(0, 1)
                .noSlicing()
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        int k = Matrices.columns(in[0]);
        int n = Matrices.columns(out);
        out.backend().gemm().gemm(false, true, Matrices.rows(in[0]), n, k, 1, in[0], 0, in[1], 0, 0, out, 0, 1);
        return out;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        if (c.wants(1)) {
            c.prefetch(0); // so that its gather overlaps with the product for dX
        }
        if (c.wants(0)) {
            c.give(0, c.run(new InputGradient(), g, c.input(1)));
        }
        if (c.wants(1)) {
            c.give(1, new WeightGradient(c.gradientType(1)), g, c.input(0));
        }
    }

    /** dX = dY W for dY [..., n] and W [n, k]. */
    record InputGradient() implements Operation {
        @Override
        public String name() {
            return "linear input gradient";
        }

        @Override
        public DType termType(DType type, @Nullable DType requested) {
            return Matrices.termType(type, requested);
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return new TensorSpec(
                    in[0].dtype(), in[0].shape().with(-1, in[1].shape().size(1)));
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            int rows = in[0].dims() - 1; // labels: rows, then n, then k
            int[] result = LabelRule.ascending(0, rows + 1);
            result[rows] = rows + 1;
            return LabelRule.of(in)
                    .input(0, LabelRule.ascending(0, rows + 1))
                    .input(1, rows, rows + 1)
                    .output(result)
                    .linearIn(0, 1)
                    .noSlicing()
                    .build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            int n = Matrices.columns(in[0]);
            int k = Matrices.columns(out);
            out.backend().gemm().gemm(false, false, Matrices.rows(in[0]), k, n, 1, in[0], 0, in[1], 0, 0, out, 0, 1);
            return out;
        }
    }

    /**
     * dW = dYᵀ X for dY [..., n] and X [..., k], summed over all rows.
     *
     * @param result type of dW: that of dY, or 32 bits where that has 16
     */
    record WeightGradient(DType result) implements Operation {
        @Override
        public String name() {
            return "linear weight gradient";
        }

        @Override
        public boolean canAccumulate() {
            return true;
        }

        @Override
        public DType termType(DType type, @Nullable DType requested) {
            return Matrices.termType(type, requested);
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return new TensorSpec(
                    result, Shape.of(in[0].shape().size(-1), in[1].shape().size(-1)));
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            int rows = in[0].dims() - 1; // labels: rows, then n, then k
            int[] x = LabelRule.ascending(0, rows + 1);
            x[rows] = rows + 1;
            return LabelRule.of(in)
                    .input(0, LabelRule.ascending(0, rows + 1))
                    .input(1, x)
                    .output(rows, rows + 1)
                    .linearIn(0, 1)
                    .noSlicing()
                    .build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            int n = Matrices.columns(in[0]);
            int k = Matrices.columns(in[1]);
            int rows = Matrices.rows(in[0]);
            double beta = context.accumulates() ? 1 : 0;
            out.backend().gemm().gemm(true, false, n, k, rows, 1, in[0], 0, in[1], 0, beta, out, 0, 1);
            return out;
        }
    }
}
