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
 * activation(gate) · up in one pass, for two tensors of one shape.
 *
 * @param activation the activation
 */
public record GatedOp(Activation activation) implements Operation {
    @Override
    public String name() {
        return "gated_" + activation.name().toLowerCase(java.util.Locale.ROOT);
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (!in[0].equals(in[1]) || !in[0].dtype().isFloating()) {
            throw new IllegalArgumentException(name() + " needs two float tensors of one shape and type, found gate "
                    + in[0] + " and up " + in[1]);
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
        out.backend().elementwise().gated(activation, in[0], in[1], out);
        return out;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Tensor[] both = c.runAll(new Gradient(activation), c.input(0), c.input(1), g);
        c.give(0, both[0]);
        c.give(1, both[1]);
    }

    /**
     * The gradients of gate and up.
     *
     * @param activation the activation
     */
    record Gradient(Activation activation) implements Operation {
        @Override
        public String name() {
            return "gradient of gated activation";
        }

        @Override
        public TensorSpec[] inferAll(TensorSpec... in) {
            return new TensorSpec[] {in[0], in[0]};
        }

        @Override
        public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
            return LabelRule.elementwise(in, out[0])
                    .output(LabelRule.ascending(0, out[1].dims()))
                    .linearIn(2)
                    .build();
        }

        @Override
        public NdArray[] forwardAll(ForwardContext context, NdArray... in) {
            NdArray dGate = context.allocate(0);
            NdArray dUp = context.allocate(1);
            dUp.backend().elementwise().gatedGrad(activation, in[0], in[1], in[2], dGate, dUp);
            return new NdArray[] {dGate, dUp};
        }
    }
}
