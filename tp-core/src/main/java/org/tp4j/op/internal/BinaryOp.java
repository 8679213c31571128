package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.BinaryKernel;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * An elementwise function of two tensors, which broadcast.
 *
 * @param kernel the function
 */
public record BinaryOp(BinaryKernel kernel) implements Operation {
    @Override
    public String name() {
        return kernel.name().toLowerCase(java.util.Locale.ROOT);
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dtype() != in[1].dtype()) {
            throw new IllegalArgumentException(name() + " of " + in[0] + " and " + in[1]
                    + ": the types differ; HINT: cast one of them, for instance with cast(DType."
                    + in[0].dtype().name() + ")");
        }
        boolean logical = kernel == BinaryKernel.AND || kernel == BinaryKernel.OR;
        boolean equality = kernel == BinaryKernel.EQ || kernel == BinaryKernel.NE;
        if (in[0].dtype() == DType.BOOL ? !logical && !equality : logical) {
            throw new IllegalArgumentException(name() + " is not defined for " + in[0].dtype());
        }
        return new TensorSpec(
                kernel.givesBool() ? DType.BOOL : in[0].dtype(), in[0].shape().broadcast(in[1].shape()));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        LabelRule.Builder rule = LabelRule.elementwise(in, out[0]);
        switch (kernel) {
            case ADD, SUB -> rule.linearIn(0, 1).additive();
            case MUL -> rule.linearIn(0, 1);
            case DIV -> rule.linearIn(0);
            case RELU_GRAD, GELU_GRAD, GELU_TANH_GRAD, SILU_GRAD, SIGMOID_GRAD, TANH_GRAD -> rule.linearIn(1);
            default -> {}
        }
        return rule.build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().elementwise().binary(kernel, in[0], in[1], out);
        return out;
    }

    @Override
    public boolean differentiable() {
        return switch (kernel) {
            case ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM -> true;
            default -> false;
        };
    }

    @Override
    public boolean keepsInput(int i) {
        return kernel != BinaryKernel.ADD && kernel != BinaryKernel.SUB && (kernel != BinaryKernel.DIV || i == 1);
    }

    @Override
    public boolean keepsOutputs() {
        return kernel == BinaryKernel.DIV;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        switch (kernel) {
            case ADD -> {
                give(c, 0, g);
                give(c, 1, g);
            }
            case SUB -> {
                give(c, 0, g);
                if (c.wants(1)) {
                    give(c, 1, g.neg());
                }
            }
            case MUL -> {
                if (c.wants(0)) {
                    give(c, 0, g.mul(c.input(1)));
                }
                if (c.wants(1)) {
                    give(c, 1, g.mul(c.input(0)));
                }
            }
            case DIV -> {
                Tensor quotient = g.div(c.input(1));
                if (c.wants(1)) {
                    give(c, 1, quotient.mul(c.output(0)).neg()); // d(a/b)/db = -(a/b)/b
                }
                give(c, 0, quotient);
            }
            case MAXIMUM, MINIMUM -> extremum(c, g);
            default -> Operation.super.backward(c, g);
        }
    }

    private void extremum(BackwardContext c, Tensor g) {
        Tensor a = c.input(0);
        Tensor b = c.input(1);
        Tensor half = a.eq(b).cast(g.dtype()).mul(0.5);
        Tensor first = (kernel == BinaryKernel.MAXIMUM ? a.gt(b) : a.lt(b)).cast(g.dtype());
        Tensor second = (kernel == BinaryKernel.MAXIMUM ? a.lt(b) : a.gt(b)).cast(g.dtype());
        give(c, 0, g.mul(first.add(half)));
        give(c, 1, g.mul(second.add(half)));
    }

    private static void give(BackwardContext c, int i, Tensor g) {
        if (c.wants(i)) {
            c.give(i, Broadcasting.sumTo(g, c.inputShape(i)));
        }
    }
}
