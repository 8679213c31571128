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

/**
 * Conversion of elements to another type. A pending sum can be cast between floating types only; its terms keep their type
 * if that is wide enough, so that it is rounded when it is complete.
 *
 * @param to the type
 */
public record CastOp(DType to) implements Operation {
    @Override
    public String name() {
        return "cast to " + to;
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        return new TensorSpec(to, in[0].shape());
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        LabelRule.Builder rule = LabelRule.elementwise(in, out[0]);
        if (in[0].dtype().isFloating() && to.isFloating()) {
            rule.linearIn(0);
        }
        return rule.build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        if (in[0].dtype() == context.outputType(0)) {
            return in[0];
        }
        NdArray out = context.allocate(0);
        out.backend().elementwise().cast(in[0], out);
        return out;
    }

    @Override
    public boolean differentiable() {
        return to.isFloating();
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, g.cast(c.input(0).dtype()));
    }
}
