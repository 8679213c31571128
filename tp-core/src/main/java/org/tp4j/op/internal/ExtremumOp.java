package org.tp4j.op.internal;

import org.tp4j.comm.ReduceOp;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TargetLayout;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Tensor;

/**
 * Largest or smallest over some dimensions. Over a sharded one the result is a statistic, Partial(max) or Partial(min),
 * which carries no gradient. Equal elements share the gradient evenly.
 *
 * @param largest whether the largest, otherwise the smallest
 * @param reduction which dimensions
 */
public record ExtremumOp(boolean largest, ReducedDims reduction) implements Operation {
    @Override
    public String name() {
        return largest ? "max" : "min";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dtype() == DType.BOOL) {
            throw new IllegalArgumentException(name() + " of " + in[0] + "; HINT: cast it to int64 first");
        }
        if (reduction.count(in[0].shape()) == 0) {
            throw new IllegalArgumentException(
                    name() + " over no elements: " + in[0] + ", dimensions " + reduction.dims());
        }
        return new TensorSpec(in[0].dtype(), reduction.shape(in[0].shape()));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return reduction
                .rule(in)
                .contraction(largest ? ReduceOp.MAX : ReduceOp.MIN)
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        ReductionKernels.Kind kind = largest ? ReductionKernels.Kind.MAX : ReductionKernels.Kind.MIN;
        out.backend().reduction().reduce(kind, in[0], reduction.mask(in[0].shape()), out);
        return out;
    }

    @Override
    public boolean keepsOutputs() {
        return true;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Tensor x = c.input(0);
        ExpandOp keep = new ExpandOp(reduction.kept(x.shape()), reduction.removed(), TargetLayout.NONE);
        Tensor hit = x.eq(c.run(keep, c.output(0))).cast(g.dtype());
        int[] dims = reduction.dims().stream().mapToInt(Integer::intValue).toArray();
        Tensor share = dims.length == 0 ? hit : hit.div(hit.sum(true, dims));
        c.give(0, c.run(keep, g).mul(share));
    }
}
