package org.tp4j.comm;

import java.util.List;
import org.tp4j.tensor.NdArray;

/**
 * A set of ranks that communicate: the service interface of a collectives engine.
 *
 * <p>Every rank of the group makes the same calls in the same order. Calls start the work and return at once; the arrays
 * given must stay untouched until the returned {@link Work} has been awaited. Several may be outstanding. Ranks in
 * arguments are ranks <em>of this group</em>. Arrays are flat runs of elements, whatever their shapes. Empty arrays are
 * legal and take part.
 *
 * <p>Reduced values are the same bits on every rank. 16-bit floats are reduced in 32 bits and rounded once. Sums and the
 * like of integers wrap. Every engine throws {@link CommunicationException} from await (or from the call) when ranks are
 * found to disagree, a peer has failed or time has run out.
 */
public interface ProcessGroup extends AutoCloseable {
    /** Name for messages and records, such as {@code world} or {@code tp}. */
    String name();

    /** This rank's number within the group. */
    int rank();

    /** Number of ranks. */
    int size();

    /** World ranks of the members, in group order. */
    List<Integer> worldRanks();

    /** out = reduction over all ranks' {@code in}; may be in place (out the same window as in). */
    Work allReduce(NdArray in, NdArray out, ReduceOp op);

    /**
     * out = all ranks' {@code in} one after the other.
     *
     * @param counts elements each rank brings, the same list on every rank; {@code out} holds their sum
     */
    Work allGather(NdArray in, NdArray out, long[] counts);

    /**
     * out = this rank's run of the reduction over all ranks' {@code in}.
     *
     * @param counts elements each rank receives, the same list on every rank; {@code in} holds their sum
     */
    Work reduceScatter(NdArray in, NdArray out, long[] counts, ReduceOp op);

    /**
     * Sends run i of {@code in} to rank i and receives rank i's run into run i of {@code out}.
     *
     * @param sendCounts elements to each rank
     * @param receiveCounts elements from each rank
     */
    Work allToAll(NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts);

    /** Every rank's {@code array} becomes that of {@code root}. */
    Work broadcast(NdArray array, int root);

    /** {@code out} of {@code root} = reduction over all ranks' {@code in}; on other ranks out is left as it was. */
    Work reduce(NdArray in, NdArray out, ReduceOp op, int root);

    /** Sends to {@code peer}; matches its {@link #receive} calls in order. */
    Work send(NdArray array, int peer);

    /** Receives from {@code peer}. */
    Work receive(NdArray array, int peer);

    /** Waits until every rank has come here. */
    void barrier();

    /**
     * New groups of the ranks that gave the same color, ordered by key, then rank; every rank calls it.
     *
     * @param name name of the new group
     */
    ProcessGroup split(String name, int color, int key);

    /** Frees the group's resources; those of groups split from it are their own. Idempotent. */
    @Override
    void close();
}
