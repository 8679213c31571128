package org.tp4j.op;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Tensor;

/**
 * An operation on tensors: a value (a record of its attributes), so that decisions about layouts can be cached by it.
 *
 * <p>An operation with one result implements {@link #infer} and {@link #forward}; one with several overrides {@link
 * #inferAll} and {@link #forwardAll}. A custom operation is one more implementation, run by {@code Tensors.apply}.
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

    /** How results are laid out, given the layouts of the operands. */
    ShardingRule rule(TensorSpec[] in, TensorSpec[] out);

    /**
     * What types, shapes and layouts of results depend on besides those of the operands: the key of cached decisions. An
     * operation whose attributes change from step to step without changing these returns something coarser than itself.
     */
    default Object key() {
        return this;
    }

    /**
     * What must be the same on every rank that runs it, as an immutable value whose {@code toString} says so: by default a
     * record itself, and the name of anything else.
     */
    default Object fact() {
        return getClass().isRecord() ? this : name();
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

    /**
     * The type in which ranks hold their terms where the operation leaves a sum over a sharded dimension pending, at least as
     * wide as the result's; {@link #forward} is then given memory of that type. By default 32 bits for the 16-bit types, so
     * that the sum is rounded once, when it is complete.
     *
     * @param result type of the result
     * @param requested what the plan asks of products with a parameter; null for the default
     */
    default DType termType(DType result, @Nullable DType requested) {
        return result.isFloating() ? result.accumulator() : result;
    }

    /**
     * Whether {@link #forward} can add to what its result holds, as {@link ForwardContext#accumulates} asks: then a leaf's
     * gradient is summed over backward passes without a pass of its own.
     */
    default boolean canAccumulate() {
        return false;
    }

    /** Whether gradients pass: false for comparisons, indices and the gradients of operations themselves. */
    default boolean differentiable() {
        return true;
    }

    /** Whether {@link #backward} uses operand {@code i}; operands it does not use are not kept. */
    default boolean keepsInput(int i) {
        return true;
    }

    /** Whether {@link #backward} uses the results. */
    default boolean keepsOutputs() {
        return false;
    }

    /**
     * Passes the operands' gradients to {@link BackwardContext#give}, the one nearest to the model's input first,
     * so that its communication can start early.
     *
     * @param gradient of the first result
     */
    default void backward(BackwardContext context, Tensor gradient) {
        throw new UnsupportedOperationException(name() + " has no gradient");
    }
}
