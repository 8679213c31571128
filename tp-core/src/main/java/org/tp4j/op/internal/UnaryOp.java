package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;

/**
 * An elementwise function of one tensor.
 *
 * @param function the function
 * @param a first number, where it has one
 * @param b second number
 */
public record UnaryOp(UnaryFunction function, double a, double b) implements Operation {
    /** A function without numbers. */
    public static UnaryOp of(UnaryFunction function) {
        return new UnaryOp(function, 0, 0);
    }

    @Override
    public String name() {
        return function.name().toLowerCase(java.util.Locale.ROOT);
    }

    @Override
    public Object key() {
        return function;
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (!function.isDefinedFor(in[0].dtype())) {
            throw new IllegalArgumentException(name() + " is not defined for " + in[0] + "; HINT: cast it first");
        }
        return in[0];
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        LabelRule.Builder rule = LabelRule.elementwise(in, out[0]);
        if (function.isLinear(in[0].dtype())) {
            rule.linearIn(0);
        }
        return rule.build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        if (function == UnaryFunction.SHIFT && !context.addsConstants()) {
            return in[0];
        }
        NdArray out = context.allocate(0);
        out.backend().elementwise().unary(function, in[0], out, a, b);
        return out;
    }

    @Override
    public boolean differentiable() {
        return function.isDifferentiable();
    }

    @Override
    public boolean keepsInput(int i) {
        return function.keepsInput();
    }

    @Override
    public boolean keepsOutputs() {
        return function.keepsOutput();
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, function.gradient(g, new FunctionBackward(c, a, b)));
    }
}
