package org.tp4j.op;

import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * What can be done to tensors: a value (a record of its attributes), so that decisions about layouts can be cached by it.
 *
 * <p>An operation with one result implements {@link #infer} and {@link #forward}; one with several overrides {@link
 * #inferAll} and {@link #forwardAll}. A user's own operation is one more implementation.
 */
public interface Operation {
    /** Name in messages and records, in lower case. */
    String name();

    /**
     * Type and shape of the result.
     *
     * @throws IllegalArgumentException if the operands do not fit, naming what was found
     */
    default TensorSpec infer(TensorSpec... in) {
        return inferAll(in)[0];
    }

    /** Types and shapes of all results. */
    default TensorSpec[] inferAll(TensorSpec... in) {
        return new TensorSpec[] {infer(in)};
    }

    /** How results are laid out, given how operands are. */
    ShardingRule rule(TensorSpec[] in, TensorSpec[] out);

    /**
     * What types, shapes and layouts of results depend on besides those of the operands; decisions are cached by it. An
     * operation whose attributes change from step to step without changing these gives something coarser than itself.
     */
    default Object key() {
        return this;
    }

    /**
     * Computes this rank's part of the result from its parts of the operands.
     *
     * @return a new array or, where nothing has to be computed, a view of an operand
     */
    default NdArray forward(ForwardContext context, NdArray... in) {
        return forwardAll(context, in)[0];
    }

    /** Computes this rank's parts of all results. */
    default NdArray[] forwardAll(ForwardContext context, NdArray... in) {
        return new NdArray[] {forward(context, in)};
    }

    /** Whether gradients pass: false for comparisons, indices and the gradients of operations themselves. */
    default boolean differentiable() {
        return true;
    }

    /** Whether {@link #backward} looks at operand {@code i}; what it does not is let go. */
    default boolean keepsInput(int i) {
        return true;
    }

    /** Whether {@link #backward} looks at results. */
    default boolean keepsOutputs() {
        return false;
    }

    /**
     * Hands the operands' gradients to {@link BackwardContext#give}, the one that lies nearer to the model's input first,
     * so that its communication can start.
     *
     * @param gradient of the first result
     */
    default void backward(BackwardContext context, Tensor gradient) {
        throw new UnsupportedOperationException(name() + " has no gradient");
    }
}
