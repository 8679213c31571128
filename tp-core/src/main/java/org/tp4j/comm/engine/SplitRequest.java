package org.tp4j.comm.engine;

import java.util.Comparator;
import java.util.List;
import org.tp4j.comm.CommunicationException;

/**
 * What a rank asks for in a split, as ranks tell each other.
 *
 * @param rank its rank in the group that is split
 * @param color ranks of one color form a group
 * @param key order within it; ranks of equal keys stay in rank order
 * @param nameHash hash of the new group's name, which ranks of one color give alike
 */
public record SplitRequest(int rank, int color, int key, int nameHash) {
    /**
     * The ranks that form a group with {@code mine}, in the order they have in it.
     *
     * @param all the requests of all ranks, in rank order
     * @param name what this rank calls the new group, for the message
     * @throws CommunicationException if ranks of one color name their group differently
     */
    public static List<Integer> members(List<SplitRequest> all, SplitRequest mine, String name) {
        List<SplitRequest> members = all.stream()
                .filter(request -> request.color() == mine.color())
                .sorted(Comparator.comparingInt(SplitRequest::key)) // stable
                .toList();
        for (SplitRequest request : members) {
            if (request.nameHash() != mine.nameHash()) {
                throw new CommunicationException("ranks of one color name their new group differently: rank "
                        + mine.rank() + " '" + name + "', rank " + request.rank() + " otherwise");
            }
        }
        return members.stream().map(SplitRequest::rank).toList();
    }
}
