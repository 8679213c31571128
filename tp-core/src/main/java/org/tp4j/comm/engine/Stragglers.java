package org.tp4j.comm.engine;

import java.util.List;
import java.util.Optional;
import org.tp4j.comm.record.CallRecord;

/** Knows where all ranks stand, and so which of them is to blame when a call does not complete. */
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

    /** What a rank has said that failed, such as {@code rank 2 has failed: ...}; empty while none has. Does not wait. */
    Optional<String> failure();
}
