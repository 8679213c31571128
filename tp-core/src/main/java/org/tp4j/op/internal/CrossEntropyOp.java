package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Cross entropy of each row of logits [..., c] against its label [...]; the classes must not be sharded. Results: the loss
 * of each row, 0 where the label is ignored, and for the gradient the row's maximum m and Σ e^(z - m).
 *
 * @param options all but its reduction, which is the caller's
 */
public record CrossEntropyOp(CrossEntropyOptions options) implements Operation {
    /** Takes the reduction out of the key. */
    public CrossEntropyOp {
        options = options.withReduction(CrossEntropyOptions.Reduction.NONE);
    }

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
        return new TensorSpec[] {row, row, row};
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
                .output(rows)
                .build();
    }

    @Override
    public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
        Ids.check(name(), "label", in[1], in[0].shape().size(-1), options.ignoreIndex(), context.inputRegion(1));
        NdArray[] out = {context.allocate(0), context.allocate(1), context.allocate(2)};
        out[0].backend().loss().crossEntropy(in[0], in[1], options, out[0], out[1], out[2]);
        return out;
    }

    @Override
    public boolean keepsOutputs() {
        return true;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, c.run(new Gradient(options), c.input(0), c.input(1), c.output(1), c.output(2), g));
    }

    /**
     * Gradient of the logits from logits, labels, the rows' statistics and the gradient of each row's loss.
     *
     * @param options those of the loss
     */
    record Gradient(CrossEntropyOptions options) implements Operation {
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
                    .input(4, rows)
                    .block(last)
                    .linearIn(4)
                    .output(all)
                    .build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            out.backend().loss().crossEntropyGrad(in[0], in[1], options, in[2], in[3], in[4], out);
            return out;
        }
    }
}
