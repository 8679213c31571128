package org.tp4j.op.internal;

import org.tp4j.layout.internal.Boxes;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * A run of elements along one dimension, which must not be sharded.
 *
 * @param dim the dimension, counted from the front
 * @param from first element
 * @param to behind the last element
 */
public record SliceOp(int dim, long from, long to) implements Operation {
    @Override
    public String name() {
        return "slice";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        long n = in[0].shape().size(dim);
        if (from < 0 || to < from || to > n) {
            throw new IllegalArgumentException("slice [" + from + ", " + to + ") of dimension " + dim + " of " + in[0]
                    + ": it has " + n + " elements");
        }
        return new TensorSpec(in[0].dtype(), in[0].shape().with(dim, to - from));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int[] labels = LabelRule.ascending(0, in[0].dims());
        return LabelRule.of(in)
                .input(0, labels)
                .output(labels)
                .block(dim)
                .linearIn(0)
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        return Boxes.narrow(in[0], dim, from, to - from);
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, g.pad(dim, from, c.inputShape(0).size(dim) - to, 0));
    }
}
