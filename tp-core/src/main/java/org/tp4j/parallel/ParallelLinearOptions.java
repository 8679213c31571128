package org.tp4j.parallel;

import org.jspecify.annotations.Nullable;
import org.tp4j.nn.Initializer;
import org.tp4j.tensor.DType;

/**
 * Options of {@link ColumnParallelLinear} and {@link RowParallelLinear}.
 *
 * @param bias whether a bias is added
 * @param skipBiasAdd whether the bias is left to the caller: {@code apply} returns X Wᵀ, {@code bias()} the bias
 * @param sequenceParallel whether activations outside of the pair of layers lie along the sequence (dimension 0): a
 *     column-parallel layer gathers its input, a row-parallel one reduce-scatters its product
 * @param initializer of the weight
 * @param reduceType type of the terms of pending sums, or null for the default
 */
public record ParallelLinearOptions(
        boolean bias,
        boolean skipBiasAdd,
        boolean sequenceParallel,
        Initializer initializer,
        @Nullable DType reduceType) {
    /** A bias, added by the layer; whole activations outside; initial values as in PyTorch. */
    public ParallelLinearOptions() {
        this(true, false, false, Initializer.kaimingUniform(1 / Math.sqrt(3)), null);
    }

    /** The same with or without a bias. */
    public ParallelLinearOptions withBias(boolean on) {
        return new ParallelLinearOptions(on, skipBiasAdd, sequenceParallel, initializer, reduceType);
    }

    /** The same with or without leaving the bias to the caller. */
    public ParallelLinearOptions withSkipBiasAdd(boolean on) {
        return new ParallelLinearOptions(bias, on, sequenceParallel, initializer, reduceType);
    }

    /** The same with or without sequence parallelism. */
    public ParallelLinearOptions withSequenceParallel(boolean on) {
        return new ParallelLinearOptions(bias, skipBiasAdd, on, initializer, reduceType);
    }

    /** The same with other initial values. */
    public ParallelLinearOptions withInitializer(Initializer other) {
        return new ParallelLinearOptions(bias, skipBiasAdd, sequenceParallel, other, reduceType);
    }

    /** The same holding and reducing pending sums in another type. */
    public ParallelLinearOptions withReduceType(@Nullable DType type) {
        return new ParallelLinearOptions(bias, skipBiasAdd, sequenceParallel, initializer, type);
    }
}
