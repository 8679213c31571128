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
 * RMS norm over the last dimension, which must not be sharded: operands x [..., n] and, if {@code affine}, weight [n];
 * results y and the reciprocal root mean square of each row.
 *
 * @param eps added to the mean square
 * @param affine whether a weight is given
 */
public record RmsNormOp(double eps, boolean affine) implements Operation {
    @Override
    public String name() {
        return "rms_norm";
    }

    @Override
    public TensorSpec[] inferAll(TensorSpec... in) {
        LayerNormOp.check(name(), in);
        return new TensorSpec[] {
            in[0],
            new TensorSpec(LayerNormOp.statistics(in[0].dtype()), in[0].shape().without(-1))
        };
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int last = in[0].dims() - 1;
        int[] all = LabelRule.ascending(0, last + 1);
        LabelRule.Builder rule = LabelRule.of(in).block(last).input(0, all);
        if (affine) {
            rule.input(1, last);
        }
        return rule.output(all).output(LabelRule.ascending(0, last)).build();
    }

    @Override
    public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
        NdArray[] out = {context.allocate(0), context.allocate(1)};
        out[0].backend().norm().rmsNorm(in[0], affine ? in[1] : null, eps, out[0], out[1]);
        return out;
    }

    @Override
    public boolean keepsOutputs() {
        return true;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        if (affine) {
            Tensor[] both = c.runAll(new Gradient(true), c.input(0), c.output(1), g, c.input(1));
            c.give(0, both[0]);
            c.give(1, both[1]);
        } else {
            c.give(0, c.run(new Gradient(false), c.input(0), c.output(1), g));
        }
    }

    /**
     * Gradients of x and, if {@code affine}, of the weight; operands x, rstd, dy and weight.
     *
     * @param affine whether the weight is given
     */
    record Gradient(boolean affine) implements Operation {
        @Override
        public String name() {
            return "gradient of rms_norm";
        }

        @Override
        public TensorSpec[] inferAll(TensorSpec... in) {
            if (!affine) {
                return new TensorSpec[] {in[0]};
            }
            DType statistics = LayerNormOp.statistics(in[0].dtype());
            return new TensorSpec[] {in[0], new TensorSpec(statistics, in[3].shape())};
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            int last = in[0].dims() - 1;
            int[] all = LabelRule.ascending(0, last + 1);
            LabelRule.Builder rule = LabelRule.of(in)
                    .input(0, all)
                    .input(1, LabelRule.ascending(0, last))
                    .input(2, all)
                    .block(last)
                    .linearIn(2)
                    .output(all);
            if (affine) {
                rule.input(3, last).output(last);
            }
            return rule.build();
        }

        @Override
        public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
            NdArray dx = context.allocate(0);
            @Nullable NdArray dWeight = affine ? context.allocate(1) : null;
            dx.backend().norm().rmsNormGrad(in[0], affine ? in[3] : null, in[1], in[2], dx, dWeight);
            return dWeight == null ? new NdArray[] {dx} : new NdArray[] {dx, dWeight};
        }
    }
}
