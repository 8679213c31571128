package org.tp4j.op;

import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Stretches dimensions of size 1 and adds leading ones.
 *
 * @param shape the result's global shape
 * @param like how stretched dimensions are to be cut, each rank making its piece
 */
public record Expand(Shape shape, Like like) implements Operation {
    /** An expansion without a wish for the layout. */
    public Expand(Shape shape) {
        this(shape, Like.NONE);
    }

    @Override
    public String name() {
        return "expand";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        Shape from = in[0].shape();
        int extra = shape.dims() - from.dims();
        boolean fits = extra >= 0;
        for (int d = 0; fits && d < from.dims(); d++) {
            fits = from.size(d) == 1 || from.size(d) == shape.size(d + extra);
        }
        if (!fits) {
            throw new IllegalArgumentException("cannot expand " + from + " to " + shape
                    + "; HINT: sizes are aligned at the last dimension and must be equal or 1");
        }
        return new TensorSpec(in[0].dtype(), shape);
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int extra = shape.dims() - in[0].dims();
        int[] labels = LabelRule.ascending(extra, in[0].dims());
        LabelRule.Builder rule = LabelRule.of(in);
        for (int d = 0; d < labels.length; d++) {
            if (in[0].shape().size(d) != shape.size(d + extra)) {
                labels[d] = shape.dims() + d; // a stretched dimension is made anew
                rule.block(labels[d]);
            }
        }
        return rule.input(0, labels)
                .output(LabelRule.ascending(0, shape.dims()))
                .linearIn(0)
                .like(like)
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
        int extra = to.dims() - from.dims();
        for (int d = 0; d < from.dims(); d++) {
            srcStrides[d + extra] = from.size(d) == 1 ? 0 : strides[d];
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
        c.give(0, Broadcasting.sumTo(g, c.inputShape(0)));
    }
}
