package org.tp4j.comm;

import java.util.List;
import org.tp4j.comm.internal.RankLists;
import org.tp4j.tensor.NdArray;

/**
 * A set of ranks that communicate: the service interface of a collectives engine.
 *
 * <p>Every rank of the group makes the same calls in the same order. A call starts the work and returns at once; until the
 * returned {@link Work} has been awaited, the arrays must not be touched and their scopes must stay open. Several calls may
 * be outstanding, and they may be awaited in any order. One thread uses a group at a time: another one must not make a call
 * before the first has awaited its own, which is an error where it is noticed. Arrays that are themselves {@linkplain NdArray#await() pending} are
 * awaited first. Ranks in arguments are ranks <em>of this group</em>. Arrays are treated as flat runs of elements; their
 * shapes are only checked: where all ranks contribute equally much (all-reduce, reduce, broadcast), the shapes must be
 * equal. Empty arrays are legal and take part. A call may work in place: in and out are the same elements, or the smaller
 * array is a window of the larger one at its own position. They must not overlap otherwise, and never in all-to-all.
 *
 * <p>Reduced values are the same bits on every rank. 16-bit floats are reduced in 32 bits and rounded once. Integer sums
 * and products wrap; of BOOL values, sum and max are "any", product and min "all". An output is marked as {@linkplain
 * org.tp4j.tensor.Storage#markChanged() changed}. Every engine throws {@link CommunicationException} from await (or from
 * the call) if ranks disagree, a peer has failed or the call times out.
 */
public interface ProcessGroup extends AutoCloseable {
    /** Name for messages and records, such as {@code world} or {@code tp}. */
    String name();

    /** This rank's number in the group, from 0. */
    int rank();

    /** Number of ranks. */
    int size();

    /** World ranks of the members, in group order. */
    List<Integer> worldRanks();

    /** out = reduction over all ranks' {@code in}; may be in place (out is the same window as in). */
    Work allReduce(NdArray in, NdArray out, ReduceOp op);

    /**
     * out = all ranks' {@code in}, concatenated in rank order.
     *
     * @param counts elements each rank contributes, the same list on every rank; {@code out} holds their sum
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

    /** {@code out} on {@code root} = reduction over all ranks' {@code in}; on other ranks out is unchanged. */
    Work reduce(NdArray in, NdArray out, ReduceOp op, int root);

    /** Sends to {@code peer}; matches its {@link #receive} calls in order. */
    Work send(NdArray array, int peer);

    /** Receives from {@code peer}. */
    Work receive(NdArray array, int peer);

    /** Waits until every rank has called it. */
    void barrier();

    /**
     * New groups of the ranks with the same color, ordered by key, then rank; every rank calls it.
     *
     * @param name name of the new group
     */
    ProcessGroup split(String name, int color, int key);

    /**
     * This rank's group in a partition known to every rank; every rank calls it with the same lists.
     *
     * @param name name of the new groups
     * @param groups ranks of this group, every rank in exactly one list, in the order they have in the new groups; the lists
     *     may differ in length
     * @throws IllegalArgumentException if a rank is missing, is listed twice, or does not exist
     * @throws CommunicationException if ranks give different lists
     */
    default ProcessGroup partition(String name, List<List<Integer>> groups) {
        int mine = RankLists.find("partition('" + name + "') of group '" + name() + "'", groups, rank(), size());
        List<Integer> wanted = groups.get(mine);
        ProcessGroup made = split(name, mine, wanted.indexOf(rank()));
        List<Integer> expected = wanted.stream().map(worldRanks()::get).toList();
        if (!made.worldRanks().equals(expected)) {
            made.close();
            throw new CommunicationException("partition('" + name + "') of group '" + name() + "': rank " + rank()
                    + " expects a group of world ranks " + expected + ", but the ranks' lists make one of "
                    + made.worldRanks() + "; HINT: give the same lists on every rank");
        }
        return made;
    }

    /** Frees the group's resources, not those of groups split from it. Idempotent. */
    @Override
    void close();
}
