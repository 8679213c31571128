package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.Tensor;

/**
 * Inverted dropout (Srivastava et al., JMLR 15, 2014). Element i of the whole tensor is dropped or not by its own random
 * number, so that every layout gives slices of one mask; the backward pass draws the mask again.
 *
 * @param p probability of dropping
 * @param seed key of the generator
 * @param stream stream of the generator
 */
public record DropoutOp(double p, long seed, StepNumber stream) implements Operation {
    /** Checks the probability. */
    public DropoutOp {
        if (!(p >= 0 && p < 1)) {
            throw new IllegalArgumentException("dropout probability must be at least 0 and below 1, was " + p);
        }
    }

    @Override
    public String name() {
        return "dropout";
    }

    @Override
    public Object fact() {
        return "dropout(p=" + p + ", seed=" + seed + ", stream=" + stream.asLong() + ")";
    }

    @Override
    public Object key() {
        return DropoutOp.class;
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (!in[0].dtype().isFloating()) {
            throw new IllegalArgumentException("dropout of " + in[0] + ": needs a float tensor");
        }
        return in[0];
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return LabelRule.elementwise(in, out[0]).linearIn(0).build();
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        if (p == 0) {
            return in[0];
        }
        NdArray out = context.allocate(0);
        out.backend().random().dropout(in[0], p, seed, stream, context.outputRegion(0), out);
        return out;
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, g.dropout(p, seed, stream));
    }
}
