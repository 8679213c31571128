package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/** Elementwise choice between two tensors: operands are condition, a, b, which broadcast. Linear in a and b. */
public record WhereOp() implements Operation {
    @Override
    public String name() {
        return "where";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dtype() != DType.BOOL || in[1].dtype() != in[2].dtype()) {
            throw new IllegalArgumentException("where needs a bool condition and two tensors of one type, found "
                    + in[0] + ", " + in[1] + ", " + in[2]);
        }
        return new TensorSpec(
                in[1].dtype(), in[0].shape().broadcast(in[1].shape()).broadcast(in[2].shape()));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return LabelRule.elementwise(in, out[0]).linearIn(1, 2).additive().build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().elementwise().where(in[0], in[1], in[2], out);
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return i == 0;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        Tensor zero = c.number(0).cast(g.dtype());
        if (c.wants(1)) {
            c.give(1, Broadcasting.sumTo(c, g.where(c.input(0), zero), 1));
        }
        if (c.wants(2)) {
            c.give(2, Broadcasting.sumTo(c, zero.where(c.input(0), g), 2));
        }
    }
}
