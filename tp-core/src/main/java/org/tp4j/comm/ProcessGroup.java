package org.tp4j.comm;

import java.util.List;
import org.tp4j.tensor.NdArray;

/**
 * A set of ranks that communicate: the service interface of a collectives engine.
 *
 * <p>Every rank of the group makes the same calls in the same order. Calls start the work and return at once; the arrays
 * given must stay untouched until the returned {@link Work} has been awaited, and their scopes open. Several may be
 * outstanding, and they may be awaited in any order. Arrays that are themselves {@linkplain NdArray#await() pending} are
 * awaited first. Ranks in arguments are ranks <em>of this group</em>. Arrays are runs of elements; their shapes matter
 * to checks only: where all ranks bring equally much (all-reduce, reduce, broadcast) they bring the same shape. Empty
 * arrays are legal and take part. In and out may be the same elements, and the smaller of the two a window at its place
 * in the larger; they never overlap otherwise, and never at all in all-to-all.
 *
 * <p>Reduced values are the same bits on every rank. 16-bit floats are reduced in 32 bits and rounded once. Sums and the
 * like of integers wrap; of truth values, sum and max are "any", product and min "all". An output is marked as
 * {@linkplain org.tp4j.tensor.Storage#markChanged() changed}. Every engine throws {@link CommunicationException} from await (or from the call) when ranks are
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

    /**
     * The new group this rank is in, of a partition that every rank knows; every rank calls it with the same lists.
     *
     * @param name name of the new groups
     * @param groups ranks of this group, each in one list, in the order they shall have in the new groups
     * @throws CommunicationException if this rank is in none of the lists
     */
    default ProcessGroup partition(String name, List<List<Integer>> groups) {
        for (int i = 0; i < groups.size(); i++) {
            int place = groups.get(i).indexOf(rank());
            if (place >= 0) {
                return split(name, i, place);
            }
        }
        throw new CommunicationException(
                "rank " + rank() + " of group '" + name() + "' is in none of the groups " + groups + " called " + name);
    }

    /** Frees the group's resources; those of groups split from it are their own. Idempotent. */
    @Override
    void close();
}
