package org.tp4j.nccl.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclComm;
import org.tp4j.nccl.NcclUniqueId;

/** The communicators of a session, which are aborted when the session fails. */
final class Communicators {
    private final NcclContext context;
    private final List<Communicator> all = new CopyOnWriteArrayList<>();

    Communicators(NcclContext context) {
        this.context = context;
        context.onFailure(this::abortAll);
    }

    /** NCCL waits for the graphs that hold its calls, whatever aborts it: they go first. */
    private void abortAll() {
        context.backend().retireCapturedCollectives();
        all.forEach(Communicator::abort);
    }

    /**
     * Joins a new communicator; returns when all ranks have.
     *
     * @param what what is joined, for messages
     * @param worldRanks its members, in order
     * @param rank this rank's position among them
     */
    Communicator join(String what, List<Integer> worldRanks, int rank, NcclUniqueId id) {
        return joined(
                what,
                worldRanks,
                context.startTimeoutMs(),
                waited -> context.joinTimeout(what, waited),
                () -> init(worldRanks.size(), id, rank));
    }

    private NcclComm init(int ranks, NcclUniqueId id, int rank) {
        return JNccl.has("ncclCommInitRankConfig")
                ? JNccl.ncclCommInitRankConfig(ranks, id, rank, NcclSettings.config())
                : JNccl.ncclCommInitRank(ranks, id, rank);
    }

    /** The part of {@code parent} with the given color and members; every rank of it calls this. */
    Communicator split(Communicator parent, CallRecord record, int color, int key, List<Integer> members) {
        return joined(
                record.toString(),
                members,
                context.timeoutMs(),
                waited -> context.timeout(record, parent.worldRanks(), waited),
                () -> JNccl.ncclCommSplit(parent.comm(), color, key, null));
    }

    private Communicator joined(
            String what,
            List<Integer> members,
            long timeoutMs,
            LongFunction<CommunicationException> late,
            Supplier<NcclComm> create) {
        NcclComm comm = WaitingCall.run(context, what, timeoutMs, late, create, JNccl::ncclCommAbort);
        Communicator created = new Communicator(context, comm, members);
        all.add(created);
        if (context.hasFailed()) { // perhaps before it was among those to abort
            created.abort();
            context.checkUsable();
        }
        return created;
    }

    /** The communicators that have not been left. */
    List<Communicator> all() {
        return all;
    }

    /** Leaves a communicator whose work is done. */
    void leave(Communicator communicator) {
        if (communicator.hasCapturedCalls()) {
            context.backend().retireCapturedCollectives();
        }
        all.remove(communicator);
        communicator.leave();
    }

    /** Leaves all communicators. */
    void leaveAll() {
        all.forEach(this::leave);
    }
}
