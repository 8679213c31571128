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
 * Adds elements of one value along one dimension, which must not be sharded.
 *
 * @param dim the dimension, counted from the front
 * @param before how many to add in front
 * @param after how many to add behind
 * @param value their value; anything but 0 is refused for a pending sum
 */
public record PadOp(int dim, long before, long after, double value) implements Operation {
    @Override
    public String name() {
        return "pad";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (before < 0 || after < 0) {
            throw new IllegalArgumentException("pad by " + before + " and " + after + ": must not be negative");
        }
        return new TensorSpec(
                in[0].dtype(), in[0].shape().with(dim, in[0].shape().size(dim) + before + after));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int[] labels = LabelRule.ascending(0, in[0].dims());
        LabelRule.Builder rule =
                LabelRule.of(in).input(0, labels).output(labels).block(dim);
        return (value == 0 ? rule.linearIn(0) : rule).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        if (before == 0 && after == 0) {
            return in[0];
        }
        NdArray out = context.allocate(0);
        out.backend().elementwise().fill(out, value);
        Boxes.insert(in[0], out, dim, before);
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, g.slice(dim, before, before + c.inputShape(0).size(dim)));
    }
}
