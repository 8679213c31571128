package org.tp4j.comm.engine;

import java.util.List;
import java.util.Optional;
import org.tp4j.comm.record.CallRecord;

/** Knows the progress of all ranks, and so which of them is to blame if a call does not complete. */
public interface Stragglers {
    /**
     * Why a call does not complete: which of the peers are silent, have not reached the call or made a different one, and
     * what they did last.
     *
     * @param record the call
     * @param peers world ranks that take part
     * @param waitedNanos how long this rank has waited
     */
    String report(CallRecord record, List<Integer> peers, long waitedNanos);

    /** The failure that a rank has announced, such as {@code rank 2 has failed: ...}; empty if none. Does not block. */
    Optional<String> failure();
}
