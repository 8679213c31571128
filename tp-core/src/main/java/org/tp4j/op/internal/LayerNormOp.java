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
import org.tp4j.tensor.Tensor;

/**
 * Layer norm over the last dimension, which must not be sharded: operands x [..., n] and, if {@code affine}, weight [n] and
 * bias [n]; results y, and the mean and reciprocal deviation of each row for the gradient.
 *
 * @param eps added to the variance
 * @param affine whether weight and bias are given
 */
public record LayerNormOp(double eps, boolean affine) implements Operation {
    @Override
    public String name() {
        return "layer_norm";
    }

    /** Type of statistics of rows. */
    static DType statistics(DType dtype) {
        return dtype.accumulator();
    }

    /** Checks that x has rows and the parameters, if any, their length and type. */
    static void check(String name, TensorSpec... in) {
        boolean fits =
                in[0].dtype().isFloating() && in[0].dims() >= 1 && in[0].shape().size(-1) > 0;
        for (int i = 1; fits && i < in.length; i++) {
            fits = in[i].dtype() == in[0].dtype()
                    && in[i].dims() == 1
                    && in[i].shape().size(0) == in[0].shape().size(-1);
        }
        if (!fits) {
            throw new IllegalArgumentException(name + " of " + java.util.Arrays.toString(in)
                    + "; HINT: weight and bias have the size of the last dimension of x and its type");
        }
    }

    @Override
    public TensorSpec[] inferAll(TensorSpec... in) {
        check(name(), in);
        TensorSpec row = new TensorSpec(statistics(in[0].dtype()), in[0].shape().without(-1));
        return new TensorSpec[] {in[0], row, row};
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int last = in[0].dims() - 1;
        LabelRule.Builder rule = LabelRule.of(in).block(last).input(0, LabelRule.ascending(0, last + 1));
        for (int i = 1; i < in.length; i++) {
            rule.input(i, last);
        }
        int[] rows = LabelRule.ascending(0, last);
        return rule.output(LabelRule.ascending(0, last + 1))
                .output(rows)
                .output(rows)
                .build();
    }

    @Override
    public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
        NdArray[] out = {context.allocate(0), context.allocate(1), context.allocate(2)};
        out[0].backend()
                .norm()
                .layerNorm(in[0], affine ? in[1] : null, affine ? in[2] : null, eps, out[0], out[1], out[2]);
        return out;
    }

    @Override
    public boolean keepsOutputs() {
        return true;
    }

    @Override
    public boolean keepsInput(int i) {
        return i < 2;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        if (affine) {
            Tensor[] all = c.runAll(new Gradient(true), c.input(0), c.output(1), c.output(2), g, c.input(1));
            c.give(0, all[0]);
            c.give(1, all[1]);
            c.give(2, all[2]);
        } else {
            c.give(0, c.run(new Gradient(false), c.input(0), c.output(1), c.output(2), g));
        }
    }

    /**
     * Gradients of x and, if {@code affine}, of weight and bias; operands x, mean, rstd, dy and weight.
     *
     * @param affine whether the weight is given
     */
    record Gradient(boolean affine) implements Operation {
        @Override
        public String name() {
            return "gradient of layer_norm";
        }

        @Override
        public TensorSpec[] inferAll(TensorSpec... in) {
            if (!affine) {
                return new TensorSpec[] {in[0]};
            }
            TensorSpec parameter = new TensorSpec(statistics(in[0].dtype()), in[4].shape());
            return new TensorSpec[] {in[0], parameter, parameter};
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            int last = in[0].dims() - 1;
            int[] all = LabelRule.ascending(0, last + 1);
            int[] rows = LabelRule.ascending(0, last);
            LabelRule.Builder rule = LabelRule.of(in)
                    .input(0, all)
                    .input(1, rows)
                    .input(2, rows)
                    .input(3, all)
                    .block(last)
                    .linearIn(3)
                    .output(all);
            if (affine) {
                rule.input(4, last).output(last).output(last);
            }
            return rule.build();
        }

        @Override
        public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
            NdArray dx = context.allocate(0);
            @Nullable NdArray dWeight = affine ? context.allocate(1) : null;
            @Nullable NdArray dBias = affine ? context.allocate(2) : null;
            dx.backend().norm().layerNormGrad(in[0], affine ? in[4] : null, in[1], in[2], in[3], dx, dWeight, dBias);
            return dWeight == null || dBias == null ? new NdArray[] {dx} : new NdArray[] {dx, dWeight, dBias};
        }
    }
}
