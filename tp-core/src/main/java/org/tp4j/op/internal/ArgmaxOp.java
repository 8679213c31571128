package org.tp4j.op.internal;

import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/** Index of the largest along the last dimension, which must not be sharded; the lowest among equals. */
public record ArgmaxOp() implements Operation {
    @Override
    public String name() {
        return "argmax";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (in[0].dims() == 0 || in[0].shape().size(-1) == 0) {
            throw new IllegalArgumentException("argmax of " + in[0] + ": there is nothing to choose from");
        }
        return new TensorSpec(DType.INT64, in[0].shape().without(-1));
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        int last = in[0].dims() - 1;
        return LabelRule.of(in)
                .input(0, LabelRule.ascending(0, last + 1))
                .output(LabelRule.ascending(0, last))
                .block(last)
                .build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        NdArray out = context.allocate(0);
        out.backend().reduction().argmax(in[0], out);
        return out;
    }

    @Override
    public boolean differentiable() {
        return false;
    }
}
