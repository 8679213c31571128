package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Cross entropy of each row of logits [..., c] against its label [...]; the classes must not be sharded. Results: the loss
 * of each row, 0 where the label is ignored, and the log-sum-exp for the gradient.
 *
 * @param ignoreIndex the label to ignore
 * @param smoothing share of the target spread over all classes
 */
public record CrossEntropyOp(long ignoreIndex, double smoothing) implements Operation {
    @Override
    public String name() {
        return "cross_entropy";
    }

    @Override
    public TensorSpec[] inferAll(TensorSpec... in) {
        Shape logits = in[0].shape();
        boolean fits = in[0].dtype().isFloating()
                && in[1].dtype().isInteger()
                && logits.dims() >= 1
                && logits.size(-1) > 0
                && logits.without(-1).equals(in[1].shape());
        if (!fits) {
            throw new IllegalArgumentException("cross_entropy of logits " + in[0] + " and labels " + in[1]
                    + "; HINT: labels are integers of the shape of the logits without their last dimension");
        }
        TensorSpec row = new TensorSpec(LayerNormOp.statistics(in[0].dtype()), in[1].shape());
        return new TensorSpec[] {row, row};
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int last = in[0].dims() - 1;
        int[] rows = LabelRule.ascending(0, last);
        return LabelRule.of(in)
                .input(0, LabelRule.ascending(0, last + 1))
                .input(1, rows)
                .block(last)
                .output(rows)
                .output(rows)
                .build();
    }

    @Override
    public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
        Ids.check(name(), "label", in[1], in[0].shape().size(-1), ignoreIndex, context.inputRegion(1));
        NdArray[] out = {context.allocate(0), context.allocate(1)};
        out[0].backend().loss().crossEntropy(in[0], in[1], ignoreIndex, smoothing, out[0], out[1]);
        return out;
    }

    @Override
    public boolean keepsOutputs() {
        return true;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Gradient gradient = new Gradient(ignoreIndex, smoothing);
        c.give(0, c.run(gradient, c.input(0), c.input(1), c.output(1), g));
    }

    /**
     * Gradient of the logits from logits, labels, log-sum-exp and the gradient of each row's loss.
     *
     * @param ignoreIndex the label to ignore
     * @param smoothing share spread over all classes
     */
    record Gradient(long ignoreIndex, double smoothing) implements Operation {
        @Override
        public String name() {
            return "gradient of cross_entropy";
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return in[0];
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            int last = in[0].dims() - 1;
            int[] all = LabelRule.ascending(0, last + 1);
            int[] rows = LabelRule.ascending(0, last);
            return LabelRule.of(in)
                    .input(0, all)
                    .input(1, rows)
                    .input(2, rows)
                    .input(3, rows)
                    .block(last)
                    .linearIn(3)
                    .output(all)
                    .build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            out.backend().loss().crossEntropyGrad(in[0], in[1], ignoreIndex, smoothing, in[2], in[3], out);
            return out;
        }
    }
}
