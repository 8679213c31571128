package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;

/**
 * Mean over some dimensions, accumulated in at least 32 bits and rounded once. Over a sharded dimension the result is
 * Partial: each rank's sum divided by the count of all ranks.
 *
 * @param reduction which dimensions
 * @param count how many elements of the whole tensor are averaged
 */
public record MeanOp(ReducedDims reduction, long count) implements Operation {
    @Override
    public String name() {
        return "mean";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (!in[0].dtype().isFloating()) {
            throw new IllegalArgumentException(
                    "mean of " + in[0] + " would be truncated; HINT: cast it to a float type first");
        }
        return new TensorSpec(in[0].dtype(), reduction.shape(in[0].shape()));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return reduction.rule(in).linearIn(0).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        DType wide = out.dtype().accumulator();
        NdArray sum = out.dtype() == wide ? out : NdArray.allocate(out.backend(), wide, out.shape());
        out.backend().reduction().reduce(ReductionKernels.Kind.SUM, in[0], reduction.mask(in[0].shape()), sum);
        out.backend().elementwise().unary(UnaryFunction.SCALE, sum, sum, 1.0 / count, 0);
        if (sum != out) {
            out.backend().elementwise().cast(sum, out);
        }
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        ExpandOp expand = new ExpandOp(c.inputShape(0), reduction.removed(), c.inputLayout(0));
        c.give(0, c.run(expand, g.mul(1.0 / count)));
    }
}
