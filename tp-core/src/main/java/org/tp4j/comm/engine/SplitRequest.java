package org.tp4j.comm.engine;

import java.util.Comparator;
import java.util.List;
import org.tp4j.comm.CommunicationException;

/**
 * What one rank passed to {@link org.tp4j.comm.ProcessGroup#split}, as engines exchange it.
 *
 * @param rank the rank in the group that is split
 * @param color its color
 * @param key its key
 * @param nameHash hash of the name it gave the new group
 */
public record SplitRequest(int rank, int color, int key, int nameHash) {
    /** Number of ints in a request besides the rank. */
    public static final int INTS = 3;

    /**
     * The ranks of one new group in its order: those with the color of {@code rank}, by key, then rank.
     *
     * @param all every rank's request, in rank order
     * @param name the name that {@code rank} gave the new group
     * @throws CommunicationException if ranks with the same color gave different names
     */
    public static List<Integer> members(List<SplitRequest> all, int rank, String name) {
        int color = all.get(rank).color();
        List<SplitRequest> members = all.stream()
                .filter(request -> request.color() == color)
                .sorted(Comparator.comparingInt(SplitRequest::key)) // stable: equal keys stay in rank order
                .toList();
        for (SplitRequest request : members) {
            if (request.nameHash() != name.hashCode()) {
                throw new CommunicationException(
                        "ranks with the same color name their new group differently: rank " + rank
                                + " names it '" + name + "', rank " + request.rank()
                                + " does not; HINT: give split the same name on all ranks of a color");
            }
        }
        return members.stream().map(SplitRequest::rank).toList();
    }
}
