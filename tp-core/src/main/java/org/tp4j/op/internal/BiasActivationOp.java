package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * activation(x + bias) in one pass, for x [..., n] and bias [n].
 *
 * @param activation the activation
 */
public record BiasActivationOp(Activation activation) implements Operation {
    @Override
    public String name() {
        return "bias_" + activation.name().toLowerCase(java.util.Locale.ROOT);
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        boolean fits = in[0].dtype().isFloating()
                && in[0].dtype() == in[1].dtype()
                && in[1].dims() == 1
                && in[0].dims() >= 1
                && in[0].shape().size(-1) == in[1].shape().size(0);
        if (!fits) {
            throw new IllegalArgumentException(name() + " of " + in[0] + " and bias " + in[1]
                    + "; HINT: a bias has one dimension, the last of the tensor it is added to");
        }
        return in[0];
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return LabelRule.elementwise(in, out[0]).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().elementwise().biasActivation(activation, in[0], in[1], out);
        return out;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Tensor dx = c.run(new Gradient(activation), c.input(0), c.input(1), g);
        c.give(0, dx);
        if (c.wants(1)) {
            c.give(1, Broadcasting.sumTo(c, dx, 1));
        }
    }

    /**
     * activation'(x + bias) · dy.
     *
     * @param activation the activation
     */
    record Gradient(Activation activation) implements Operation {
        @Override
        public String name() {
            return "gradient of bias and activation";
        }

        @Override
        public TensorSpec infer(TensorSpec... in) {
            return in[0];
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            return LabelRule.elementwise(in, out[0]).linearIn(2).build();
        }

        @Override
        public NdArray forward(ForwardContext context, NdArray... in) {
            NdArray out = context.allocate(0);
            out.backend().elementwise().biasActivationGrad(activation, in[0], in[1], in[2], out);
            return out;
        }
    }
}
