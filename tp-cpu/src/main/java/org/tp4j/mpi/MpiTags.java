package org.tp4j.mpi;

import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.CollectiveCall;

/**
 * Message tags that hold the call they belong to, so that messages of calls that disagree never meet: instead of wrong
 * values there is a wait, and then the report of who is where.
 *
 * <p>From the top: whether the call is point to point, its phase (2 bits), its number (8 bits; more outstanding calls
 * than that on one group would be needed to mix two up), and a hash of what was asked and of the message's length in
 * whatever bits MPI leaves, 20 in Open MPI.
 */
final class MpiTags {
    private static final int PLACE_BITS = 1 + 2 + 8;

    private final int hashBits;

    /** For tags from 0 to {@code largestTag}, a power of two less one or above. */
    MpiTags(long largestTag) {
        int bits = 63 - Long.numberOfLeadingZeros(Math.min(largestTag, Integer.MAX_VALUE) + 1);
        this.hashBits = Math.max(0, bits - PLACE_BITS);
    }

    /** What the tags of one phase of a call have in common. */
    int base(CallRecord record, long sequence, int phase) {
        CollectiveCall call = record.call();
        int place = call.kind().isPointToPoint() ? 1 : 0;
        place = (place << 2) | (phase & 3);
        place = (place << 8) | (int) (sequence & 0xff);
        return (place << hashBits) | (call.signatureHash() & mask());
    }

    int tag(int base, long bytes) {
        int scrambled = (int) ((bytes + 1) * 0x9e3779b97f4a7c15L >>> 40);
        return base ^ (scrambled & mask());
    }

    private int mask() {
        return (1 << hashBits) - 1;
    }
}
