package org.tp4j.tests.op;

import java.util.List;
import java.util.function.Function;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Whole;

/**
 * An operation and operands drawn for it, to be run on tensors of any kind.
 *
 * @param name method of {@link Tensor}, and perhaps a variant after a space
 * @param operands their values
 * @param function the operation
 * @param coarse whether it rounds to 32 bits on the way
 */
record Sample(String name, List<Whole> operands, Function<List<Tensor>, Tensor> function, boolean coarse) {
    Sample(String name, List<Whole> operands, Function<List<Tensor>, Tensor> function) {
        this(name, operands, function, false);
    }

    /** Whether a gradient of operand {@code i} can be asked for. */
    boolean differentiable(int i) {
        return operands.get(i).dtype().isFloating();
    }

    /** Shapes, for messages. */
    @Override
    public String toString() {
        return name + " of "
                + operands.stream().map(o -> o.dtype() + o.shape().toString()).toList();
    }
}
