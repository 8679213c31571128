package org.tp4j.comm.record;

/** One call of one rank, as the flight recorder keeps it: what it was, where it was made, and its state. */
public final class CallRecord {
    /** States of a call. */
    public enum State {
        /** Started, not yet known to be complete. */
        POSTED,
        /** Complete. */
        DONE,
        /** Failed with an error. */
        FAILED
    }

    private final String group;
    private final int rank;
    private final long sequence;
    private final CollectiveCall call;
    private final String modulePath;
    private final long postedNanos = System.nanoTime();
    private volatile State state = State.POSTED;
    private volatile boolean awaited;
    private volatile boolean settled;

    /**
     * A call that has just been made.
     *
     * @param rank the caller's rank in the group
     * @param sequence the 1-based number of the call on this group
     * @param modulePath dotted path of the running module, or empty
     */
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

    /** The 1-based number of the call on this group; collectives and point-to-point calls are numbered separately. */
    public long sequence() {
        return sequence;
    }

    /** The call. */
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

    /** Its state. */
    public State state() {
        return state;
    }

    /** Whether the rank waits for it, or has waited. */
    public boolean isAwaited() {
        return awaited;
    }

    /** Marks it as waited for. */
    public void awaited() {
        awaited = true;
    }

    /** Whether its caller needs it no more: it is over, or on a device whose stream waits for it. */
    public boolean isSettled() {
        return settled || state != State.POSTED;
    }

    /** Marks it as settled. */
    public void settled() {
        settled = true;
    }

    /** Marks it as complete. */
    public void done() {
        state = State.DONE;
    }

    /** Marks it as failed. */
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
        return "call " + sequence + " on group '" + group + "': " + callInModule();
    }

    /** The call and the module it was made in. */
    public String callInModule() {
        return modulePath.isEmpty() ? call.toString() : call + " in " + modulePath;
    }
}
