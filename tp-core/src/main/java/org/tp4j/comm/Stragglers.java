package org.tp4j.comm;

import java.util.List;

/** Knows where all ranks stand, and so which of them is to blame when a call does not complete. */
@FunctionalInterface
public interface Stragglers {
    /**
     * Why a call does not complete, in words: which of the peers are silent, have not come to it or ask something else, and
     * where they are.
     *
     * @param record the call
     * @param peers world ranks that have to take part
     * @param waitedNanos how long this rank has waited
     */
    String report(CallRecord record, List<Integer> peers, long waitedNanos);
}
