package org.tp4j.comm.record;

/** One call of one rank, as the flight recorder keeps it: what was asked, where, and how far it has come. */
public final class CallRecord {
    /** How far a call has come. */
    public enum State {
        /** Started, not yet seen to be complete. */
        POSTED,
        /** Complete. */
        DONE,
        /** Ended by an error. */
        FAILED
    }

    private final String group;
    private final int rank;
    private final long sequence;
    private final CollectiveCall call;
    private final String modulePath;
    private final long postedNanos = System.nanoTime();
    private volatile State state = State.POSTED;

    /** A call as it is made. */
    public CallRecord(String group, int rank, long sequence, CollectiveCall call, String modulePath) {
        this.group = group;
        this.rank = rank;
        this.sequence = sequence;
        this.call = call;
        this.modulePath = modulePath;
    }

    /** Name of the group it was made on. */
    public String group() {
        return group;
    }

    /** The caller's rank in that group. */
    public int rank() {
        return rank;
    }

    /** Which call it is: from 1, counted on this group by this rank, collectives and point-to-point calls apart. */
    public long sequence() {
        return sequence;
    }

    /** What was asked. */
    public CollectiveCall call() {
        return call;
    }

    /** Dotted path of the module that was running, or empty. */
    public String modulePath() {
        return modulePath;
    }

    /** When it was made, by {@link System#nanoTime()}. */
    public long postedNanos() {
        return postedNanos;
    }

    /** How far it has come. */
    public State state() {
        return state;
    }

    /** Notes that it is complete. */
    public void done() {
        state = State.DONE;
    }

    /** Notes that it has failed. */
    public void failed() {
        state = State.FAILED;
    }

    /** Whether this call and a peer's, each with its rank in the group, belong together. */
    public boolean agrees(int me, CallRecord that, int other) {
        return (sequence == that.sequence || call.kind().isPointToPoint()) && call.agrees(me, that.call, other);
    }

    /** Such as {@code call 12 on group 'tp': allReduce(sum, float32 [2, 3]) in layers.0.mlp}. */
    @Override
    public String toString() {
        return "call " + sequence + " on group '" + group + "': " + asked();
    }

    /** The call and the module it was made in. */
    public String asked() {
        return modulePath.isEmpty() ? call.toString() : call + " in " + modulePath;
    }
}
