package org.tp4j.op.internal;

import java.util.List;
import java.util.stream.IntStream;
import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TargetLayout;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Stretches dimensions of size 1 and inserts new ones.
 *
 * @param shape the result's global shape
 * @param inserted dimensions of the result that the operand does not have, in ascending order
 * @param target layout for the dimensions that the operand lacks, of which each rank then computes its shard
 */
public record ExpandOp(Shape shape, List<Integer> inserted, TargetLayout target) implements Operation {
    /** An expansion that adds leading dimensions, whole on every rank. */
    public static ExpandOp leading(Shape from, Shape to) {
        return new ExpandOp(
                to, IntStream.range(0, to.dims() - from.dims()).boxed().toList(), TargetLayout.NONE);
    }

    @Override
    public String name() {
        return "expand";
    }

    /** For each dimension of the operand, that of the result. */
    private int[] places() {
        return IntStream.range(0, shape.dims())
                .filter(d -> !inserted.contains(d))
                .toArray();
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        Shape from = in[0].shape();
        int[] places = places();
        boolean fits = places.length == from.dims();
        for (int d = 0; fits && d < places.length; d++) {
            fits = from.size(d) == 1 || from.size(d) == shape.size(places[d]);
        }
        if (!fits) {
            throw new IllegalArgumentException("cannot expand " + from + " to " + shape
                    + "; HINT: sizes are aligned at the last dimension and must be equal or 1");
        }
        return new TensorSpec(in[0].dtype(), shape);
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int[] labels = places();
        LabelRule.Builder rule = LabelRule.of(in);
        for (int d = 0; d < labels.length; d++) {
            if (in[0].shape().size(d) != shape.size(labels[d])) {
                labels[d] = shape.dims() + d; // a stretched dimension is new
                rule.block(labels[d]);
            }
        }
        return rule.input(0, labels)
                .output(LabelRule.ascending(0, shape.dims()))
                .linearIn(0)
                .target(target)
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        Shape to = context.outputShape(0);
        Shape from = in[0].shape();
        if (to.elements() == from.elements()) {
            return in[0].reshape(to);
        }
        NdArray out = context.allocate(0);
        long[] strides = from.strides();
        long[] srcStrides = new long[to.dims()];
        int[] places = places();
        for (int d = 0; d < places.length; d++) {
            srcStrides[places[d]] = from.size(d) == 1 ? 0 : strides[d];
        }
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
        int[] dims = inserted.stream().mapToInt(Integer::intValue).toArray();
        Tensor uninserted = dims.length == 0 ? g : g.sum(false, dims);
        c.give(0, Broadcasting.sumTo(c, uninserted, 0));
    }
}
