package org.tp4j.parallel;

import org.tp4j.layout.Placement;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Linear;

/**
 * A linear layer that is split along its output from the start: {@link Linear} with {@link ColwiseParallel} built in, for
 * models written layer by layer as with Megatron rather than with a plan.
 */
public final class ColumnParallelLinear extends Linear {
    /**
     * Options.
     *
     * @param bias whether a bias is added
     * @param gatherOutput whether the result is gathered to Invariant, instead of staying Shard(-1)
     * @param skipBiasAdd whether the bias is left to the caller: {@code apply} gives X Wᵀ, {@code bias()} the bias
     * @param sequenceParallel whether a plain input is this rank's part of the sequence (dimension 0), to be gathered
     * @param initializer of the weight
     */
    public record Options(
            boolean bias,
            boolean gatherOutput,
            boolean skipBiasAdd,
            boolean sequenceParallel,
            Initializer initializer) {
        /** A bias, added here; the result stays sharded; plain inputs are whole; initial values as in PyTorch. */
        public Options() {
            this(true, false, false, false, Initializer.kaimingUniform(1 / Math.sqrt(3)));
        }

        /** The same with or without a bias. */
        public Options withBias(boolean on) {
            return new Options(on, gatherOutput, skipBiasAdd, sequenceParallel, initializer);
        }

        /** The same with or without gathering the result. */
        public Options withGatherOutput(boolean on) {
            return new Options(bias, on, skipBiasAdd, sequenceParallel, initializer);
        }

        /** The same with or without leaving the bias to the caller. */
        public Options withSkipBiasAdd(boolean on) {
            return new Options(bias, gatherOutput, on, sequenceParallel, initializer);
        }

        /** The same with or without sequence parallelism. */
        public Options withSequenceParallel(boolean on) {
            return new Options(bias, gatherOutput, skipBiasAdd, on, initializer);
        }

        /** The same with other initial values. */
        public Options withInitializer(Initializer other) {
            return new Options(bias, gatherOutput, skipBiasAdd, sequenceParallel, other);
        }
    }

    /** A layer [out, in] with the usual options, split along {@code axis}. */
    public ColumnParallelLinear(MeshAxis axis, long in, long out) {
        this(axis, in, out, new Options());
    }

    /** A layer [out, in] split along {@code axis}. */
    public ColumnParallelLinear(MeshAxis axis, long in, long out, Options options) {
        super(in, out, options.bias(), options.initializer());
        skipBiasAdd(options.skipBiasAdd());
        ColwiseParallel style = new ColwiseParallel(
                options.sequenceParallel() ? Placement.shard(0) : Placement.invariant(),
                options.gatherOutput() ? Placement.invariant() : null,
                false,
                1);
        Layers.split(this, style, axis);
    }
}
