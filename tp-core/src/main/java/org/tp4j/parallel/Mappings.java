package org.tp4j.parallel;

import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;

/**
 * Megatron's names for rows of the table of redistributions ({@link org.tp4j.layout.Transition}), along one mesh axis. "Last"
 * is the last dimension, the sequence is dimension 0 as in Megatron's [sequence, batch, features].
 */
public final class Mappings {
    private Mappings() {}

    /** f: Invariant → Replicate. Forward identity, backward all-reduce. */
    public static DTensor copyToTensorParallelRegion(DTensor x, String axis) {
        return move(x, axis, "copyToTensorParallelRegion", Placement.invariant(), Placement.replicate());
    }

    /** g: Partial → Invariant. Forward all-reduce, backward identity. */
    public static DTensor reduceFromTensorParallelRegion(DTensor x, String axis) {
        return move(x, axis, "reduceFromTensorParallelRegion", Placement.partial(), Placement.invariant());
    }

    /** Invariant → Shard(last). Forward keep own slice, backward all-gather. */
    public static DTensor scatterToTensorParallelRegion(DTensor x, String axis) {
        return move(x, axis, "scatterToTensorParallelRegion", Placement.invariant(), last(x));
    }

    /** Shard(last) → Invariant. Forward all-gather, backward keep own slice. */
    public static DTensor gatherFromTensorParallelRegion(DTensor x, String axis) {
        return move(x, axis, "gatherFromTensorParallelRegion", last(x), Placement.invariant());
    }

    /** Invariant → Shard(0). Forward keep own slice, backward all-gather. */
    public static DTensor scatterToSequenceParallelRegion(DTensor x, String axis) {
        return move(x, axis, "scatterToSequenceParallelRegion", Placement.invariant(), Placement.shard(0));
    }

    /**
     * Shard(0) → Replicate if tensor-parallel work follows (forward all-gather, backward reduce-scatter), else → Invariant
     * (backward keep own slice).
     */
    public static DTensor gatherFromSequenceParallelRegion(DTensor x, String axis, boolean tensorParallelFollows) {
        Placement to = tensorParallelFollows ? Placement.replicate() : Placement.invariant();
        return move(x, axis, "gatherFromSequenceParallelRegion", Placement.shard(0), to);
    }

    /** Partial → Shard(0). Forward reduce-scatter, backward all-gather. */
    public static DTensor reduceScatterToSequenceParallelRegion(DTensor x, String axis) {
        return move(x, axis, "reduceScatterToSequenceParallelRegion", Placement.partial(), Placement.shard(0));
    }

    private static Placement last(DTensor x) {
        return Placement.shard(x.shape().dims() - 1);
    }

    private static DTensor move(DTensor x, String axis, String name, Placement from, Placement to) {
        Placement has = x.layout().placement(x.layout().mesh().axisIndex(axis));
        if (!has.equals(from)) {
            throw new LayoutException(
                    name,
                    name + " takes a tensor that is " + from + " on mesh axis '" + axis
                            + "', but it is laid out " + x.layout() + "; HINT: redistribute(\"" + axis
                            + "\", ...) goes from any"
                            + " placement to any");
        }
        return x.redistribute(axis, to);
    }
}
