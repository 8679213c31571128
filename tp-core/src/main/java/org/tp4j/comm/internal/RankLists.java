package org.tp4j.comm.internal;

import java.util.ArrayList;
import java.util.List;

/** Lists of ranks that users give: every rank of a group stands in them exactly once. */
public final class RankLists {
    private RankLists() {}

    /**
     * The number of the list with a rank, once the lists have been checked.
     *
     * @param what what the lists are for, for the message
     * @param size number of ranks of the group
     * @throws IllegalArgumentException naming the ranks that are missing, repeated or do not exist
     */
    public static int find(String what, List<List<Integer>> lists, int rank, int size) {
        require(what, lists, lists.stream().flatMap(List::stream).toList(), size);
        for (int i = 0; i < lists.size(); i++) {
            if (lists.get(i).contains(rank)) {
                return i;
            }
        }
        throw new IllegalArgumentException(what + ": there is no rank " + rank + " among " + size);
    }

    /**
     * Checks that a list holds every rank once.
     *
     * @throws IllegalArgumentException naming the ranks that are missing, repeated or do not exist
     */
    public static void requirePermutation(String what, List<Integer> ranks, int size) {
        require(what, ranks, ranks, size);
    }

    private static void require(String what, Object given, List<Integer> ranks, int size) {
        List<Integer> repeated = new ArrayList<>();
        List<Integer> absent = new ArrayList<>();
        List<Integer> unknown =
                ranks.stream().filter(rank -> rank < 0 || rank >= size).toList();
        int[] times = new int[size];
        ranks.stream().filter(rank -> rank >= 0 && rank < size).forEach(rank -> times[rank]++);
        for (int rank = 0; rank < size; rank++) {
            if (times[rank] == 0) {
                absent.add(rank);
            } else if (times[rank] > 1) {
                repeated.add(rank);
            }
        }
        if (!repeated.isEmpty() || !absent.isEmpty() || !unknown.isEmpty()) {
            throw new IllegalArgumentException(what + " with ranks " + given + ":"
                    + (repeated.isEmpty() ? "" : " ranks " + repeated + " stand in it twice;")
                    + (absent.isEmpty() ? "" : " ranks " + absent + " are missing;")
                    + (unknown.isEmpty() ? "" : " ranks " + unknown + " do not exist;")
                    + " HINT: each of the ranks 0 to " + (size - 1) + " must stand in it once");
        }
    }
}
