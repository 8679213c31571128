package org.tp4j.op.internal;

import java.util.List;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Reorders dimensions.
 *
 * @param order dimension i of the result is dimension order[i] of the operand
 */
public record PermuteOp(List<Integer> order) implements Operation {
    @Override
    public String name() {
        return "permute";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        Shape shape = in[0].shape();
        long[] sizes = new long[order.size()];
        boolean[] seen = new boolean[shape.dims()];
        boolean fits = order.size() == shape.dims();
        for (int d = 0; fits && d < sizes.length; d++) {
            int from = shape.normalize(order.get(d));
            fits = !seen[from];
            seen[from] = true;
            sizes[d] = shape.size(from);
        }
        if (!fits) {
            throw new IllegalArgumentException("permute of " + shape + " by " + order + ": HINT: each of its "
                    + shape.dims() + " dimensions must be named once");
        }
        return new TensorSpec(in[0].dtype(), Shape.of(sizes));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int[] labels = new int[order.size()];
        for (int d = 0; d < labels.length; d++) {
            labels[d] = in[0].shape().normalize(order.get(d));
        }
        return LabelRule.of(in)
                .input(0, LabelRule.ascending(0, labels.length))
                .output(labels)
                .linearIn(0)
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        Shape to = context.outputShape(0);
        long[] strides = in[0].shape().strides();
        long[] srcStrides = new long[strides.length];
        for (int d = 0; d < strides.length; d++) {
            srcStrides[d] = strides[in[0].shape().normalize(order.get(d))];
        }
        NdArray out = context.allocate(0);
        if (out.elements() > 0) {
            out.backend().elementwise().copy(in[0], 0, srcStrides, out, 0, to.strides(), to.toArray());
        }
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        int[] inverse = new int[order.size()];
        for (int d = 0; d < inverse.length; d++) {
            inverse[c.inputShape(0).normalize(order.get(d))] = d;
        }
        c.give(0, g.permute(inverse));
    }
}
