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

    /**
     * The first rank other than this one that has ended before its program did, and how: {@code rank 2 has failed: ...};
     * empty if none. Does not block.
     */
    Optional<String> failure();

    /**
     * Why a call cannot complete any more, whatever the time: a peer has ended, in whatever way, before it did its part;
     * empty if none has. Does not block.
     *
     * @param record the call
     * @param peers world ranks that take part
     */
    Optional<String> obstacle(CallRecord record, List<Integer> peers);

    /**
     * That a peer has made a different call under the same number, so that the call will not complete; empty if that is not
     * known. Asks the control channel: not to be called often.
     *
     * @param record the call
     * @param peers world ranks that take part
     */
    Optional<String> disagreement(CallRecord record, List<Integer> peers);
}
