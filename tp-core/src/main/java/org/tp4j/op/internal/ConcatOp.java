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
 * Concatenates tensors along one dimension, which must not be sharded.
 *
 * @param dim the dimension, counted from the front
 */
public record ConcatOp(int dim) implements Operation {
    @Override
    public String name() {
        return "concat";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        long n = 0;
        for (TensorSpec spec : in) {
            boolean fits = spec.dtype() == in[0].dtype()
                    && spec.dims() == in[0].dims()
                    && spec.shape().with(dim, 0).equals(in[0].shape().with(dim, 0));
            if (!fits) {
                throw new IllegalArgumentException("concat along dimension " + dim + " of " + in[0] + " and " + spec
                        + ": HINT: types and all other sizes must be equal");
            }
            n += spec.shape().size(dim);
        }
        return new TensorSpec(in[0].dtype(), in[0].shape().with(dim, n));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int[] labels = LabelRule.ascending(0, out[0].dims());
        LabelRule.Builder rule = LabelRule.of(in).output(labels).block(dim).additive();
        for (int i = 0; i < in.length; i++) {
            rule.input(i, labels).linearIn(i);
        }
        return rule.build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        long at = 0;
        for (NdArray piece : in) {
            Boxes.insert(piece, out, dim, at);
            at += piece.shape().size(dim);
        }
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        long at = 0;
        for (int i = 0; at < g.size(dim); i++) {
            long n = c.inputShape(i).size(dim);
            if (c.wants(i)) {
                c.give(i, g.slice(dim, at, at + n));
            }
            at += n;
        }
    }
}
