package org.tp4j.nccl.internal;

import java.util.List;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclComm;
import org.tp4j.nccl.NcclException;
import org.tp4j.nccl.NcclResult;

/**
 * An NCCL communicator of a session. It is a blocking one: a call returns when it is enqueued, and costs no thread and no
 * polling. A call that waits inside NCCL for a rank that does not come is ended by the watchdog, which aborts the
 * communicator.
 */
final class Communicator {
    private static final long FINALIZE_MS = 10_000;

    private final NcclContext context;
    private final NcclComm comm;
    private final List<Integer> worldRanks;
    private volatile boolean captured;

    /** @param worldRanks its members, in order */
    Communicator(NcclContext context, NcclComm comm, List<Integer> worldRanks) {
        this.context = context;
        this.comm = comm;
        this.worldRanks = worldRanks;
    }

    NcclComm comm() {
        return comm;
    }

    /** World ranks of its members, in order. */
    List<Integer> worldRanks() {
        return worldRanks;
    }

    /** Whether calls on it have been captured, which NCCL keeps until the graph is destroyed. */
    boolean hasCapturedCalls() {
        return captured;
    }

    /** Makes calls to NCCL, which enqueue work on streams. */
    void run(CallRecord record, Runnable calls) {
        captured |= context.backend().computeStream().isCapturing();
        try {
            calls.run();
        } catch (NcclException | IllegalStateException e) {
            context.checkUsable(); // if the session has failed, that is what ended the communicator
            record.failed();
            throw new CommunicationException(
                    "rank " + context.member().rank() + " in " + record + ": " + e.getMessage(), e);
        }
    }

    /** Makes calls to NCCL as one group. */
    void runGroup(CallRecord record, Runnable calls) {
        run(record, () -> {
            JNccl.ncclGroupStart();
            try {
                calls.run();
            } catch (RuntimeException e) {
                endGroupQuietly();
                throw e;
            }
            JNccl.ncclGroupEnd();
        });
    }

    private static void endGroupQuietly() {
        try {
            JNccl.ncclGroupEnd(); // so that later calls do not become part of the group
        } catch (NcclException e) {
            // the first error is the one to report
        }
    }

    /** The asynchronous NCCL error; {@link NcclResult#ncclSuccess} if there is none or the communicator has ended. */
    int asyncError() {
        try {
            int state = JNccl.ncclCommGetAsyncError(comm);
            return state == NcclResult.ncclInProgress ? NcclResult.ncclSuccess : state;
        } catch (IllegalStateException e) {
            return NcclResult.ncclSuccess;
        }
    }

    /** Finalizes and destroys it once all its work is done; aborts it if the other ranks do not do the same. */
    void leave() {
        if (comm.isEnded()) {
            return;
        }
        try {
            WaitingCall.run(
                    context,
                    "the end of a group",
                    FINALIZE_MS,
                    waited -> new CommunicationException("the other ranks have not left the group"),
                    this::destroy,
                    done -> {});
        } catch (CommunicationException e) {
            JNccl.ncclCommAbort(comm);
        }
    }

    private boolean destroy() {
        if (JNccl.has("ncclCommFinalize")) {
            JNccl.ncclCommFinalize(comm);
        }
        JNccl.ncclCommDestroy(comm);
        return true;
    }

    /** Ends it, and the work under way on it. */
    void abort() {
        JNccl.ncclCommAbort(comm);
    }
}
