package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.ElementwiseBackward;
import org.tp4j.tensor.Tensor;

/**
 * An operation's backward context as the elementwise functions see it: gradients are summed where operands were stretched.
 */
record FunctionBackward(BackwardContext context, double a, double b) implements ElementwiseBackward {
    @Override
    public Tensor input(int i) {
        return context.input(i);
    }

    @Override
    public Tensor output() {
        return context.output(0);
    }

    @Override
    public boolean wants(int i) {
        return context.wants(i);
    }

    @Override
    public void give(int i, Tensor gradient) {
        if (context.wants(i)) {
            context.give(i, Broadcasting.sumTo(context, gradient, i));
        }
    }

    @Override
    public Tensor number(double value) {
        return context.number(value);
    }

    @Override
    public Tensor apply(BinaryFunction function, Tensor x, Tensor y) {
        return context.run(new BinaryOp(function), x, y);
    }
}
