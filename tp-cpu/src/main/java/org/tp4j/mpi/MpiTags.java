package org.tp4j.mpi;

import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.CollectiveCall;

/**
 * Message tags that identify the call, so that messages of calls that disagree never match: instead of wrong values there
 * is a timeout, and a report of what each rank does.
 *
 * <p>From the highest bit: whether the call is point-to-point, its phase (2 bits), its number (8 bits; only with more
 * outstanding calls on one group could two be confused), and a hash of the call's signature and the message's length in the
 * remaining bits, 20 in Open MPI.
 */
final class MpiTags {
    private static final int CALL_BITS = 1 + 2 + 8;

    private final int hashBits;

    /** For tags from 0 to {@code largestTag}, at least a power of two minus one. */
    MpiTags(long largestTag) {
        int bits = 63 - Long.numberOfLeadingZeros(Math.min(largestTag, Integer.MAX_VALUE) + 1);
        this.hashBits = Math.max(0, bits - CALL_BITS);
    }

    /** The common part of the tags of one phase of a call. */
    int base(CallRecord record, long sequence, int phase) {
        CollectiveCall call = record.call();
        int id = call.kind().isPointToPoint() ? 1 : 0;
        id = (id << 2) | (phase & 3);
        id = (id << 8) | (int) (sequence & 0xff);
        return (id << hashBits) | (call.signatureHash() & mask());
    }

    int tag(int base, long bytes) {
        int scrambled = (int) ((bytes + 1) * 0x9e3779b97f4a7c15L >>> 40);
        return base ^ (scrambled & mask());
    }

    private int mask() {
        return (1 << hashBits) - 1;
    }
}
