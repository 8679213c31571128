package org.tp4j.op.internal;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Tensor;

/**
 * Sum over some dimensions; over a sharded one the result is Partial.
 *
 * @param reduction which dimensions
 * @param result type of the result if it is to be wider than the operand's, otherwise null
 */
public record SumOp(ReducedDims reduction, @Nullable DType result) implements Operation {
    /** A sum of the operand's type. */
    public SumOp(ReducedDims reduction) {
        this(reduction, null);
    }

    /** Sum over {@code dims} counted from the front. */
    public SumOp(boolean keepDims, List<Integer> dims) {
        this(new ReducedDims(keepDims, dims));
    }

    @Override
    public String name() {
        return "sum";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dtype() == DType.BOOL) {
            throw new IllegalArgumentException("sum of " + in[0] + "; HINT: cast it to int64 first");
        }
        return new TensorSpec(result == null ? in[0].dtype() : result, reduction.shape(in[0].shape()));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return reduction.rule(in).linearIn(0).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().reduction().reduce(ReductionKernels.Kind.SUM, in[0], reduction.mask(in[0].shape()), out);
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, c.run(new ExpandOp(c.inputShape(0), reduction.removed(), c.inputLayout(0)), g));
    }
}
