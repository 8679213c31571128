package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.ForwardContext;
import org.tp4j.op.Operation;
import org.tp4j.op.ShardingRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * The same elements in another shape, without a copy.
 *
 * @param shape the result's global shape
 */
public record ReshapeOp(Shape shape) implements Operation {
    @Override
    public String name() {
        return "reshape";
    }

    @Override
    public TensorSpec infer(TensorSpec... in) {
        if (shape.elements() != in[0].shape().elements()) {
            throw new IllegalArgumentException("cannot reshape " + in[0].shape() + " ("
                    + in[0].shape().elements() + " elements) to " + shape + " (" + shape.elements() + " elements)");
        }
        return new TensorSpec(in[0].dtype(), shape);
    }

    @Override
    public ShardingRule rule(TensorSpec[] in, TensorSpec[] out) {
        return new ReshapeRule(in[0].shape(), shape);
    }

    @Override
    public NdArray forward(ForwardContext context, NdArray... in) {
        return in[0].reshape(context.outputShape(0));
    }

    @Override
    public boolean keepsInput(int i) {
        return false;
    }

    @Override
    public void backward(BackwardContext c, Tensor g) {
        c.give(0, g.reshape(c.inputShape(0).toArray()));
    }
}
