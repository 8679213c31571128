package org.tp4j.comm.engine;

import java.util.List;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.Work;
import org.tp4j.comm.internal.agreement.CallStream;
import org.tp4j.comm.internal.agreement.Ledger;
import org.tp4j.comm.record.AbstractProcessGroup;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.StepRecording;

/**
 * What all engines share: arguments are checked, calls are numbered and recorded, pending inputs are awaited, outputs
 * are marked as changed. An engine implements the {@code start} methods of {@link AbstractProcessGroup.Engine}.
 */
public abstract class EngineGroup extends AbstractProcessGroup implements AbstractProcessGroup.Engine {
    private final String name;
    private final int rank;
    private final List<Integer> worldRanks;
    private final FlightRecorder recorder;
    private final GroupUse use;
    private final CallStream agreed;
    private long collectives;
    private long messages;
    private volatile boolean closed;

    /**
     * A group as one of its ranks sees it.
     *
     * @param rank this rank's number within the group
     * @param worldRanks world ranks of the members, in group order
     * @param recorder this rank's flight recorder, shared by all its groups
     */
    protected EngineGroup(String name, int rank, List<Integer> worldRanks, FlightRecorder recorder) {
        this.name = name;
        this.rank = rank;
        this.worldRanks = List.copyOf(worldRanks);
        this.recorder = recorder;
        this.use = new GroupUse(name);
        this.agreed = recorder.ledger().open(name, this.worldRanks);
    }

    /** Forms the groups of a split; the call has been recorded. */
    protected abstract ProcessGroup startSplit(CallRecord record, String name, int color, int key);

    /** Releases what the engine holds for this group; called once. */
    protected abstract void release();

    /** Called if a call is refused for its arguments on this rank, so that an engine can tell the other ranks. */
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

    /** This rank's flight recorder. */
    public final FlightRecorder recorder() {
        return recorder;
    }

    @Override
    public final Ledger ledger() {
        return recorder.ledger();
    }

    @Override
    protected final Work invoke(Invocation invocation) {
        checkOpen(invocation.kind());
        use.enter(invocation.kind());
        try {
            return start(invocation);
        } finally {
            use.leave();
        }
    }

    private Work start(Invocation invocation) {
        CollectiveCall call;
        try {
            call = invocation.checked().get();
        } catch (CommunicationException e) {
            CallRecord record = record(CollectiveCall.withoutData(invocation.kind()), false);
            record.failed();
            refused(record, e);
            throw e;
        }
        NdArray in = invocation.in();
        NdArray out = invocation.out();
        if (in != null) {
            in.await();
        }
        if (out != null && out != in) {
            out.await();
        }
        CallRecord record = record(call, true);
        if (out != null && call.writesOutput(rank)) {
            out.storage().markChanged();
        }
        return invocation.start().apply(this, record);
    }

    @Override
    public final ProcessGroup split(String name, int color, int key) {
        checkOpen(Collective.SPLIT);
        use.enter(Collective.SPLIT);
        try {
            CallRecord record = record(CollectiveCall.withoutData(Collective.SPLIT), true);
            try {
                return startSplit(record, name, color, key);
            } finally {
                record.settled();
            }
        } finally {
            use.leave();
        }
    }

    @Override
    public final void close() {
        if (!closed) {
            closed = true;
            recorder.ledger().close(agreed);
            release();
        }
    }

    /** Whether {@link #close()} has been called. */
    protected final boolean isClosed() {
        return closed;
    }

    /** Records a call that the engine makes for its own purposes, at the same point on all ranks. */
    protected final CallRecord internalCall(Collective kind) {
        return record(CollectiveCall.withoutData(kind), true);
    }

    private void checkOpen(Collective kind) {
        if (closed) {
            throw new CommunicationException(kind + " on group '" + name + "', which rank " + rank + " has closed");
        }
        if (ExecutionContext.current().isAlone()) {
            throw new CommunicationException(
                    kind + " on group '" + name + "' within Alone.run(...): the other ranks do not"
                            + " call it; HINT: let all ranks of the group call it, outside of Alone.run(...)");
        }
    }

    /** Numbers and keeps a call; one that was refused counts as any, since the other ranks are told anyway. */
    private CallRecord record(CollectiveCall call, boolean accepted) {
        long sequence = call.kind().isPointToPoint() ? ++messages : ++collectives;
        String path = ExecutionContext.current().modulePath();
        CallRecord record = new CallRecord(name, rank, sequence, call, path);
        recorder.add(record);
        use.made(record);
        if (!call.kind().isPointToPoint()) {
            int signature = accepted ? call.signatureHash() : CallStream.REFUSED;
            StepRecording.everyStep(() -> agreed.add(signature, call));
        }
        return record;
    }
}
