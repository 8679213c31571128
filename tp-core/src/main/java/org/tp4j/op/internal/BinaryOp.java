package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * An elementwise function of two tensors, which broadcast.
 *
 * @param function the function
 */
public record BinaryOp(BinaryFunction function) implements Operation {
    @Override
    public String name() {
        return function.name().toLowerCase(java.util.Locale.ROOT);
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dtype() != in[1].dtype()) {
            throw new IllegalArgumentException(name() + " of " + in[0] + " and " + in[1]
                    + ": the types differ; HINT: cast one of them, for instance with cast(DType."
                    + in[0].dtype().name() + ")");
        }
        if (!function.isDefinedFor(in[0].dtype())) {
            throw new IllegalArgumentException(name() + " is not defined for " + in[0].dtype());
        }
        return new TensorSpec(
                function.givesBool() ? DType.BOOL : in[0].dtype(), in[0].shape().broadcast(in[1].shape()));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        LabelRule.Builder rule = LabelRule.elementwise(in, out[0]);
        for (int i = 0; i < in.length; i++) {
            if (function.isLinearIn(i, in[i].dtype())) {
                rule.linearIn(i);
            }
        }
        return (function.isAdditive() ? rule.additive() : rule).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().elementwise().binary(function, in[0], in[1], out);
        return out;
    }

    @Override
    public boolean differentiable() {
        return function.isDifferentiable();
    }

    @Override
    public boolean keepsInput(int i) {
        return function.keepsInput(i);
    }

    @Override
    public boolean keepsOutputs() {
        return function.keepsOutput();
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        function.backward(g, new FunctionBackward(c, 0, 0));
    }
}
