package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * Softmax along the last dimension, which must not be sharded, or its logarithm.
 *
 * @param logarithm whether to take the logarithm
 */
public record SoftmaxOp(boolean logarithm) implements Operation {
    @Override
    public String name() {
        return logarithm ? "log_softmax" : "softmax";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (!in[0].dtype().isFloating() || in[0].dims() == 0) {
            throw new IllegalArgumentException(name() + " of " + in[0] + ": needs a float tensor with a dimension");
        }
        return in[0];
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return LabelRule.elementwise(in, out[0]).block(in[0].dims() - 1).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().reduction().softmax(in[0], logarithm, out);
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public boolean keepsOutputs() {
        return true;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, c.run(new Gradient(logarithm), c.output(0), g));
    }

    /**
     * Its gradient, from the result and the result's gradient.
     *
     * @param logarithm whether to take the logarithm was computed
     */
    record Gradient(boolean logarithm) implements Operation {
        @Override
        public String name() {
            return "gradient of softmax";
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return in[0];
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            return LabelRule.elementwise(in, out[0])
                    .block(in[0].dims() - 1)
                    .linearIn(1)
                    .build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            out.backend().reduction().softmaxGrad(in[0], in[1], logarithm, out);
            return out;
        }
    }
}
