package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.BinaryKernel;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryKernel;

/**
 * An elementwise function of one tensor.
 *
 * @param kernel the function
 * @param a first number, where it has one
 * @param b second number
 */
public record UnaryOp(UnaryKernel kernel, double a, double b) implements Operation {
    /** A function without numbers. */
    public static UnaryOp of(UnaryKernel kernel) {
        return new UnaryOp(kernel, 0, 0);
    }

    @Override
    public String name() {
        return kernel.name().toLowerCase(java.util.Locale.ROOT);
    }

    @Override
    public Object key() {
        return kernel;
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        boolean forBool = kernel == UnaryKernel.NOT;
        boolean arithmetic = kernel == UnaryKernel.NEG
                || kernel == UnaryKernel.ABS
                || kernel == UnaryKernel.SQUARE
                || kernel == UnaryKernel.SCALE
                || kernel == UnaryKernel.SHIFT
                || kernel == UnaryKernel.CLAMP
                || kernel == UnaryKernel.RELU;
        boolean fits = in[0].dtype().isFloating() && !forBool
                || in[0].dtype().isInteger() && arithmetic
                || in[0].dtype() == org.tp4j.tensor.DType.BOOL && forBool;
        if (!fits) {
            throw new IllegalArgumentException(name() + " is not defined for " + in[0] + "; HINT: cast it first");
        }
        return in[0];
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        LabelRule.Builder rule = LabelRule.elementwise(in, out[0]);
        if (kernel == UnaryKernel.NEG || kernel == UnaryKernel.SCALE || kernel == UnaryKernel.SHIFT) {
            rule.linearIn(0);
        }
        return rule.build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        if (kernel == UnaryKernel.SHIFT && !context.addsConstants()) {
            return in[0];
        }
        NdArray out = context.allocate(0);
        out.backend().elementwise().unary(kernel, in[0], out, a, b);
        return out;
    }

    @Override
    public boolean differentiable() {
        return kernel != UnaryKernel.NOT;
    }

    @Override
    public boolean keepsInput(int i) {
        return !isOfResult() && kernel != UnaryKernel.NEG && kernel != UnaryKernel.SCALE && kernel != UnaryKernel.SHIFT;
    }

    @Override
    public boolean keepsOutputs() {
        return isOfResult();
    }

    /** Whether the derivative is written in terms of the result. */
    private boolean isOfResult() {
        return switch (kernel) {
            case EXP, SQRT, RSQRT, RECIPROCAL, SIGMOID, TANH -> true;
            default -> false;
        };
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, derivative(c, g));
    }

    private Tensor derivative(BackwardContext c, Tensor g) {
        return switch (kernel) {
            case NEG -> g.neg();
            case SCALE -> g.mul(a);
            case SHIFT -> g;
            case ABS -> {
                Tensor zero = c.number(0);
                Tensor sign = c.input(0)
                        .gt(zero)
                        .cast(g.dtype())
                        .sub(c.input(0).lt(zero).cast(g.dtype()));
                yield g.mul(sign);
            }
            case EXP -> g.mul(c.output(0));
            case LOG -> g.div(c.input(0));
            case SQRT -> g.div(c.output(0).mul(2));
            case RSQRT -> g.mul(c.output(0).mul(c.output(0).square()).mul(-0.5));
            case SQUARE -> g.mul(c.input(0).mul(2));
            case RECIPROCAL -> g.mul(c.output(0).square().neg());
            case CLAMP -> {
                Tensor x = c.input(0);
                Tensor inside =
                        x.ge(c.number(a)).cast(g.dtype()).mul(x.le(c.number(b)).cast(g.dtype()));
                yield g.mul(inside);
            }
            case RELU -> c.run(new BinaryOp(BinaryKernel.RELU_GRAD), c.input(0), g);
            case GELU -> c.run(new BinaryOp(BinaryKernel.GELU_GRAD), c.input(0), g);
            case GELU_TANH -> c.run(new BinaryOp(BinaryKernel.GELU_TANH_GRAD), c.input(0), g);
            case SILU -> c.run(new BinaryOp(BinaryKernel.SILU_GRAD), c.input(0), g);
            case SIGMOID -> c.run(new BinaryOp(BinaryKernel.SIGMOID_GRAD), c.output(0), g);
            case TANH -> c.run(new BinaryOp(BinaryKernel.TANH_GRAD), c.output(0), g);
            case NOT -> throw new UnsupportedOperationException("not has no gradient");
        };
    }
}
