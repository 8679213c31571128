package org.tp4j.comm.engine;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallChecks;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;

/**
 * What all engines share: arguments are checked, calls are numbered and recorded, pending inputs are awaited, outputs
 * are marked as changed. An engine carries out {@link #start}.
 */
public abstract class EngineGroup implements ProcessGroup {
    private final String name;
    private final int rank;
    private final List<Integer> worldRanks;
    private final FlightRecorder recorder;
    private long collectives;
    private long pointToPoint;
    private volatile boolean closed;

    /**
     * A group as one of its ranks sees it.
     *
     * @param rank this rank's number within the group
     * @param worldRanks world ranks of the members, in group order
     * @param recorder this rank's record, shared by all its groups
     */
    protected EngineGroup(String name, int rank, List<Integer> worldRanks, FlightRecorder recorder) {
        this.name = name;
        this.rank = rank;
        this.worldRanks = List.copyOf(worldRanks);
        this.recorder = recorder;
    }

    /**
     * Starts a call whose arguments have been checked. The work notes in {@code record} how it ends.
     *
     * @param in what this rank brings (the array itself for broadcast and send); null for calls without data
     * @param out where the result goes (the array itself for broadcast and receive); null for calls without data
     */
    protected abstract Work start(CallRecord record, @Nullable NdArray in, @Nullable NdArray out);

    /** Forms the groups of a split; the call has been recorded. */
    protected abstract ProcessGroup startSplit(CallRecord record, String name, int color, int key);

    /** Gives back what the engine holds for this group; called once. */
    protected abstract void release();

    /** A call was refused for its arguments on this rank: engines that can, tell the others. */
    protected void refused(CallRecord record, RuntimeException reason) {}

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final int rank() {
        return rank;
    }

    @Override
    public final int size() {
        return worldRanks.size();
    }

    @Override
    public final List<Integer> worldRanks() {
        return worldRanks;
    }

    /** This rank's record of calls. */
    public final FlightRecorder recorder() {
        return recorder;
    }

    @Override
    public final Work allReduce(NdArray in, NdArray out, ReduceOp op) {
        return post(Collective.ALL_REDUCE, in, out, () -> CallChecks.allReduce(in, out, op));
    }

    @Override
    public final Work allGather(NdArray in, NdArray out, long[] counts) {
        return post(Collective.ALL_GATHER, in, out, () -> CallChecks.allGather(this, in, out, counts));
    }

    @Override
    public final Work reduceScatter(NdArray in, NdArray out, long[] counts, ReduceOp op) {
        return post(Collective.REDUCE_SCATTER, in, out, () -> CallChecks.reduceScatter(this, in, out, counts, op));
    }

    @Override
    public final Work allToAll(NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        return post(
                Collective.ALL_TO_ALL, in, out, () -> CallChecks.allToAll(this, in, sendCounts, out, receiveCounts));
    }

    @Override
    public final Work broadcast(NdArray array, int root) {
        return post(Collective.BROADCAST, array, array, () -> CallChecks.broadcast(this, array, root));
    }

    @Override
    public final Work reduce(NdArray in, NdArray out, ReduceOp op, int root) {
        return post(Collective.REDUCE, in, out, () -> CallChecks.reduce(this, in, out, op, root));
    }

    @Override
    public final Work send(NdArray array, int peer) {
        return post(Collective.SEND, array, null, () -> CallChecks.pointToPoint(this, Collective.SEND, array, peer));
    }

    @Override
    public final Work receive(NdArray array, int peer) {
        return post(
                Collective.RECEIVE, null, array, () -> CallChecks.pointToPoint(this, Collective.RECEIVE, array, peer));
    }

    @Override
    public final void barrier() {
        post(Collective.BARRIER, null, null, () -> CollectiveCall.bare(Collective.BARRIER))
                .await();
    }

    @Override
    public final ProcessGroup split(String name, int color, int key) {
        checkOpen(Collective.SPLIT);
        return startSplit(record(CollectiveCall.bare(Collective.SPLIT)), name, color, key);
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            release();
        }
    }

    /** Whether {@link #close()} has been called. */
    protected final boolean isClosed() {
        return closed;
    }

    /** Records a call that the engine makes for its own purposes, in step on all ranks. */
    protected final CallRecord internalCall(Collective kind) {
        return record(CollectiveCall.bare(kind));
    }

    private Work post(Collective kind, @Nullable NdArray in, @Nullable NdArray out, Supplier<CollectiveCall> checked) {
        checkOpen(kind);
        CollectiveCall call;
        try {
            call = checked.get();
        } catch (CommunicationException e) {
            CallRecord record = record(CollectiveCall.bare(kind));
            record.failed();
            refused(record, e);
            throw e;
        }
        if (in != null) {
            in.await();
        }
        if (out != null && out != in) {
            out.await();
        }
        CallRecord record = record(call);
        if (out != null && writes(call)) {
            out.storage().markChanged();
        }
        return start(record, in, out);
    }

    private boolean writes(CollectiveCall call) {
        return switch (call.kind()) {
            case BROADCAST -> call.root() != rank;
            case REDUCE -> call.root() == rank;
            default -> true;
        };
    }

    private void checkOpen(Collective kind) {
        if (closed) {
            throw new CommunicationException(kind + " on group '" + name + "', which rank " + rank + " has closed");
        }
    }

    private CallRecord record(CollectiveCall call) {
        long sequence = call.kind().isPointToPoint() ? ++pointToPoint : ++collectives;
        String path = ExecutionContext.current().modulePath();
        CallRecord record = new CallRecord(name, rank, sequence, call, path);
        recorder.add(record);
        return record;
    }
}
