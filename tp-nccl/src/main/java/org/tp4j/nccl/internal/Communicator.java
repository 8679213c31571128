package org.tp4j.nccl.internal;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclComm;
import org.tp4j.nccl.NcclConfig;
import org.tp4j.nccl.NcclException;
import org.tp4j.nccl.NcclResult;
import org.tp4j.nccl.NcclUniqueId;

/**
 * An NCCL communicator of a session. It is non-blocking if the library supports it, so that no thread ever blocks inside
 * NCCL for a rank that does not come: operations in progress are polled here, with a timeout.
 */
final class Communicator {
    private static final long NAP_NANOS = 50_000;
    private static final long FINALIZE_MS = 10_000;

    private final NcclContext context;
    private final NcclComm comm;
    private final List<Integer> worldRanks;

    private Communicator(NcclContext context, NcclComm comm, List<Integer> worldRanks) {
        this.context = context;
        this.comm = comm;
        this.worldRanks = worldRanks;
    }

    /**
     * Starts to create a communicator; {@link #awaitJoined} waits for the other ranks.
     *
     * @param worldRanks its members, in order
     * @param rank this rank's position among them
     */
    static Communicator create(NcclContext context, List<Integer> worldRanks, int rank, NcclUniqueId id) {
        context.backend().makeCurrent();
        int ranks = worldRanks.size();
        NcclComm comm = JNccl.has("ncclCommInitRankConfig")
                ? JNccl.ncclCommInitRankConfig(
                        ranks, id, rank, NcclConfig.initializer().withBlocking(0))
                : JNccl.ncclCommInitRank(ranks, id, rank);
        return new Communicator(context, comm, worldRanks);
    }

    /** Starts to split this communicator; returns the part of the given color and members. Every rank calls it. */
    Communicator split(CallRecord record, int color, int key, List<Integer> members) {
        NcclComm[] part = new NcclComm[1];
        run(record, () -> part[0] = JNccl.ncclCommSplit(comm, color, key, null));
        return new Communicator(context, part[0], members);
    }

    /**
     * Waits until all ranks have joined.
     *
     * @param what what they join, for messages
     */
    void awaitJoined(String what) {
        awaitIdle(what, waited -> context.joinTimeout(what, waited));
    }

    NcclComm comm() {
        return comm;
    }

    /** Makes calls to NCCL and waits until they are enqueued on their streams. */
    void run(CallRecord record, Runnable calls) {
        try {
            calls.run();
            awaitIdle(record.toString(), waited -> context.timeout(record, worldRanks, waited));
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

    /** Creates the error of an operation that has been in progress for too long. */
    private interface TimeoutError {
        CommunicationException after(long waitedNanos);
    }

    /** Waits until no operation is in progress in the background. */
    private void awaitIdle(String what, TimeoutError error) {
        long start = System.nanoTime();
        while (true) {
            context.checkUsable();
            int state = JNccl.ncclCommGetAsyncError(comm);
            if (state == NcclResult.ncclSuccess) {
                return;
            }
            if (state != NcclResult.ncclInProgress) {
                NcclException cause =
                        new NcclException(state, "NCCL", JNccl.ncclGetErrorString(state), JNccl.ncclGetLastError(comm));
                throw new CommunicationException(
                        "rank " + context.member().rank() + " in " + what + ": " + cause.getMessage());
            }
            long waited = System.nanoTime() - start;
            context.checkPeers();
            if (waited > TimeUnit.MILLISECONDS.toNanos(context.timeoutMs())) {
                throw error.after(waited);
            }
            LockSupport.parkNanos(NAP_NANOS);
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

    /** Finalizes and destroys it once all its work is done. */
    void leave() {
        if (comm.isEnded()) {
            return;
        }
        context.backend().makeCurrent();
        if (JNccl.has("ncclCommFinalize")) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FINALIZE_MS);
            JNccl.ncclCommFinalize(comm);
            while (JNccl.ncclCommGetAsyncError(comm) == NcclResult.ncclInProgress) {
                if (System.nanoTime() > deadline) {
                    JNccl.ncclCommAbort(comm);
                    return;
                }
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
        JNccl.ncclCommDestroy(comm);
    }

    /** Ends it, and the work under way on it. */
    void abort() {
        JNccl.ncclCommAbort(comm);
    }
}
