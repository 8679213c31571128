package org.tp4j.parallel;

import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Linear;

/**
 * A linear layer that is split along its output from the start: {@link Linear} with {@link ColwiseParallel} built in, for
 * models written layer by layer as with Megatron rather than with a plan. A plain input is whole, or with sequence
 * parallelism this rank's part of the sequence.
 */
public final class ColumnParallelLinear extends Linear {
    /** A layer [out, in] with the usual options, split along {@code axis}; the result stays Shard(-1). */
    public ColumnParallelLinear(MeshAxis axis, long in, long out) {
        this(axis, in, out, false, new ParallelLinearOptions());
    }

    /**
     * A layer [out, in] split along {@code axis}.
     *
     * @param gatherOutput whether the result is gathered to Invariant, instead of staying Shard(-1)
     */
    public ColumnParallelLinear(MeshAxis axis, long in, long out, boolean gatherOutput, ParallelLinearOptions options) {
        super(in, out, options.bias(), options.initializer());
        skipBiasAdd(options.skipBiasAdd());
        ColwiseParallel style = new ColwiseParallel()
                .withInput(options.sequenceParallel() ? Placement.shard(0) : Placement.invariant())
                .withReduceType(options.reduceType());
        Parallelize.apply(this, axis, Map.of("", gatherOutput ? style.withOutput(Placement.invariant()) : style));
    }
}
