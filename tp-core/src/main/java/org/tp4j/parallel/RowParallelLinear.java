package org.tp4j.parallel;

import org.tp4j.layout.Placement;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Linear;

/**
 * A linear layer that is split along its input from the start: {@link Linear} with {@link RowwiseParallel} built in. The bias
 * is whole on every rank and added once, after the reduction.
 */
public final class RowParallelLinear extends Linear {
    /**
     * Options.
     *
     * @param bias whether a bias is added
     * @param inputIsParallel whether a plain input is this rank's slice of the last dimension, instead of whole
     * @param skipBiasAdd whether the bias is left to the caller: {@code apply} gives the product, {@code bias()} the bias
     * @param sequenceParallel whether the product is reduce-scattered along the sequence (dimension 0), instead of all-reduced
     * @param initializer of the weight
     */
    public record Options(
            boolean bias,
            boolean inputIsParallel,
            boolean skipBiasAdd,
            boolean sequenceParallel,
            Initializer initializer) {
        /** A bias, added here; plain inputs are slices; the product is all-reduced; initial values as in PyTorch. */
        public Options() {
            this(true, true, false, false, Initializer.kaimingUniform(1 / Math.sqrt(3)));
        }

        /** The same with or without a bias. */
        public Options withBias(boolean on) {
            return new Options(on, inputIsParallel, skipBiasAdd, sequenceParallel, initializer);
        }

        /** The same for plain inputs that are slices, or whole. */
        public Options withInputIsParallel(boolean on) {
            return new Options(bias, on, skipBiasAdd, sequenceParallel, initializer);
        }

        /** The same with or without leaving the bias to the caller. */
        public Options withSkipBiasAdd(boolean on) {
            return new Options(bias, inputIsParallel, on, sequenceParallel, initializer);
        }

        /** The same with or without sequence parallelism. */
        public Options withSequenceParallel(boolean on) {
            return new Options(bias, inputIsParallel, skipBiasAdd, on, initializer);
        }

        /** The same with other initial values. */
        public Options withInitializer(Initializer other) {
            return new Options(bias, inputIsParallel, skipBiasAdd, sequenceParallel, other);
        }
    }

    /** A layer [out, in] with the usual options, split along {@code axis}. */
    public RowParallelLinear(MeshAxis axis, long in, long out) {
        this(axis, in, out, new Options());
    }

    /** A layer [out, in] split along {@code axis}. */
    public RowParallelLinear(MeshAxis axis, long in, long out, Options options) {
        super(in, out, options.bias(), options.initializer());
        skipBiasAdd(options.skipBiasAdd());
        RowwiseParallel style = new RowwiseParallel(
                options.inputIsParallel() ? Placement.shard(-1) : Placement.invariant(),
                options.sequenceParallel() ? Placement.shard(0) : Placement.invariant(),
                false,
                1);
        Layers.split(this, style, axis);
    }
}
