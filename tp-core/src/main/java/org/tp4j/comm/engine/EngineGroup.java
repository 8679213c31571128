package org.tp4j.comm.engine;

import java.util.List;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;

/**
 * What all engines share: arguments are checked, calls are numbered and recorded, pending inputs are awaited, outputs
 * are marked as changed. An engine carries out the
 * {@code start} methods.
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

    /*
     * Each of these starts a call whose arguments have been checked, recorded and awaited. The work notes in the record how
     * it ends. Counts are the engine's to keep.
     */

    /** Starts an all-reduce. */
    protected abstract Work startAllReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op);

    /** Starts an all-gather. */
    protected abstract Work startAllGather(CallRecord record, NdArray in, NdArray out, long[] counts);

    /** Starts a reduce-scatter. */
    protected abstract Work startReduceScatter(CallRecord record, NdArray in, NdArray out, long[] counts, ReduceOp op);

    /** Starts an all-to-all. */
    protected abstract Work startAllToAll(
            CallRecord record, NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts);

    /** Starts a broadcast. */
    protected abstract Work startBroadcast(CallRecord record, NdArray array, int root);

    /** Starts a reduction to a root. */
    protected abstract Work startReduce(CallRecord record, NdArray in, NdArray out, ReduceOp op, int root);

    /** Starts a send. */
    protected abstract Work startSend(CallRecord record, NdArray array, int peer);

    /** Starts a receive. */
    protected abstract Work startReceive(CallRecord record, NdArray array, int peer);

    /** Starts a barrier. */
    protected abstract Work startBarrier(CallRecord record);

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
        CallRecord record = begin(Collective.ALL_REDUCE, in, out, () -> CollectiveCall.allReduce(in, out, op));
        out.storage().markChanged();
        return startAllReduce(record, in, out, op);
    }

    @Override
    public final Work allGather(NdArray in, NdArray out, long[] counts) {
        CallRecord record =
                begin(Collective.ALL_GATHER, in, out, () -> CollectiveCall.allGather(this, in, out, counts));
        out.storage().markChanged();
        return startAllGather(record, in, out, counts.clone());
    }

    @Override
    public final Work reduceScatter(NdArray in, NdArray out, long[] counts, ReduceOp op) {
        CallRecord record = begin(
                Collective.REDUCE_SCATTER, in, out, () -> CollectiveCall.reduceScatter(this, in, out, counts, op));
        out.storage().markChanged();
        return startReduceScatter(record, in, out, counts.clone(), op);
    }

    @Override
    public final Work allToAll(NdArray in, long[] sendCounts, NdArray out, long[] receiveCounts) {
        CallRecord record = begin(
                Collective.ALL_TO_ALL,
                in,
                out,
                () -> CollectiveCall.allToAll(this, in, sendCounts, out, receiveCounts));
        out.storage().markChanged();
        return startAllToAll(record, in, sendCounts.clone(), out, receiveCounts.clone());
    }

    @Override
    public final Work broadcast(NdArray array, int root) {
        CallRecord record =
                begin(Collective.BROADCAST, array, array, () -> CollectiveCall.broadcast(this, array, root));
        if (root != rank) {
            array.storage().markChanged();
        }
        return startBroadcast(record, array, root);
    }

    @Override
    public final Work reduce(NdArray in, NdArray out, ReduceOp op, int root) {
        CallRecord record = begin(Collective.REDUCE, in, out, () -> CollectiveCall.reduce(this, in, out, op, root));
        if (root == rank) {
            out.storage().markChanged();
        }
        return startReduce(record, in, out, op, root);
    }

    @Override
    public final Work send(NdArray array, int peer) {
        CallRecord record = begin(
                Collective.SEND, array, array, () -> CollectiveCall.pointToPoint(this, Collective.SEND, array, peer));
        return startSend(record, array, peer);
    }

    @Override
    public final Work receive(NdArray array, int peer) {
        CallRecord record = begin(
                Collective.RECEIVE,
                array,
                array,
                () -> CollectiveCall.pointToPoint(this, Collective.RECEIVE, array, peer));
        array.storage().markChanged();
        return startReceive(record, array, peer);
    }

    @Override
    public final void barrier() {
        checkOpen(Collective.BARRIER);
        startBarrier(record(CollectiveCall.bare(Collective.BARRIER))).await();
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

    /** Checks a call, awaits its arrays and records it. */
    private CallRecord begin(Collective kind, NdArray in, NdArray out, Supplier<CollectiveCall> checked) {
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
        in.await();
        if (out != in) {
            out.await();
        }
        return record(call);
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
