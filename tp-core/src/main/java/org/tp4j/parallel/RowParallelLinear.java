package org.tp4j.parallel;

import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Linear;

/**
 * A linear layer that is split along its input from the start: {@link Linear} with {@link RowwiseParallel} built in. The
 * product is all-reduced, or with sequence parallelism reduce-scattered; the bias is whole on every rank and added once,
 * after the reduction.
 */
public final class RowParallelLinear extends Linear {
    /** A layer [out, in] with the usual options, split along {@code axis}; plain inputs are slices. */
    public RowParallelLinear(MeshAxis axis, long in, long out) {
        this(axis, in, out, true, new ParallelLinearOptions());
    }

    /**
     * A layer [out, in] split along {@code axis}.
     *
     * @param inputIsParallel whether a plain input is this rank's slice of the last dimension, instead of whole
     */
    public RowParallelLinear(MeshAxis axis, long in, long out, boolean inputIsParallel, ParallelLinearOptions options) {
        super(in, out, options.bias(), options.initializer());
        skipBiasAdd(options.skipBiasAdd());
        RowwiseParallel style = new RowwiseParallel()
                .withInput(inputIsParallel ? Placement.shard(-1) : Placement.invariant())
                .withOutput(options.sequenceParallel() ? Placement.shard(0) : Placement.invariant())
                .withReduceType(options.reduceType());
        Parallelize.apply(this, axis, Map.of("", style));
    }
}
