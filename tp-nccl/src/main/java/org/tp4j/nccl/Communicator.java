package org.tp4j.nccl;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CallRecord;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;

/**
 * An NCCL communicator of a session. It is non-blocking where the library can, so that no thread ever sits inside of NCCL
 * waiting for a rank that does not come: calls that go on in the background are waited for here, and given up here.
 */
final class Communicator {
    private static final long NAP_NANOS = 50_000;
    private static final long LEAVE_MS = 10_000; // for the last goodbyes of an orderly end

    private final NcclSession session;
    private final NcclComm comm;
    private final List<Integer> worldRanks;

    private Communicator(NcclSession session, NcclComm comm, List<Integer> worldRanks) {
        this.session = session;
        this.comm = comm;
        this.worldRanks = worldRanks;
    }

    /**
     * Joins a new communicator; returns when all ranks have.
     *
     * @param what which, for messages
     * @param worldRanks its members, in order
     * @param rank this rank's place among them
     */
    static Communicator join(NcclSession session, String what, List<Integer> worldRanks, int rank, NcclUniqueId id) {
        session.backend().makeCurrent();
        int ranks = worldRanks.size();
        NcclComm comm = JNccl.has("ncclCommInitRankConfig")
                ? JNccl.ncclCommInitRankConfig(
                        ranks, id, rank, NcclConfig.initializer().withBlocking(0))
                : JNccl.ncclCommInitRank(ranks, id, rank);
        return new Communicator(session, comm, worldRanks).ready(what);
    }

    private Communicator ready(String what) {
        session.add(this);
        try {
            settle(null, what);
            return this;
        } catch (RuntimeException e) {
            session.remove(this);
            JNccl.ncclCommAbort(comm);
            throw e;
        }
    }

    /** The part of this one with the given color, of the members named; every rank calls it. */
    Communicator split(CallRecord record, int color, int key, List<Integer> members) {
        NcclComm[] made = new NcclComm[1];
        run(record, () -> made[0] = JNccl.ncclCommSplit(comm, color, key, null));
        return new Communicator(session, made[0], members).ready(record.toString());
    }

    NcclComm comm() {
        return comm;
    }

    /** Makes calls to NCCL and waits until they are on their streams. */
    void run(CallRecord record, Runnable calls) {
        try {
            calls.run();
            settle(record, record.toString());
        } catch (NcclException | IllegalStateException e) {
            session.checkUsable(); // it is the session's failure that ended the communicator
            record.failed();
            throw new CommunicationException(
                    "rank " + session.member().rank() + " in " + record + ": " + e.getMessage(), e);
        }
    }

    /** Makes calls to NCCL as one. */
    void runGroup(CallRecord record, Runnable calls) {
        run(record, () -> {
            JNccl.ncclGroupStart();
            try {
                calls.run();
            } catch (RuntimeException e) {
                endQuietly();
                throw e;
            }
            JNccl.ncclGroupEnd();
        });
    }

    private static void endQuietly() {
        try {
            JNccl.ncclGroupEnd(); // so that later calls are not taken for part of the group
        } catch (NcclException e) {
            // the first error is the one to tell
        }
    }

    /** Waits until what goes on in the background is over. */
    private void settle(@Nullable CallRecord record, String what) {
        long start = System.nanoTime();
        while (true) {
            session.checkUsable();
            int state = JNccl.ncclCommGetAsyncError(comm);
            if (state == NcclResult.ncclSuccess) {
                return;
            }
            if (state != NcclResult.ncclInProgress) {
                throw new CommunicationException("rank " + session.member().rank() + " in " + what + ": "
                        + new NcclException(
                                        state, "NCCL", JNccl.ncclGetErrorString(state), JNccl.ncclGetLastError(comm))
                                .getMessage());
            }
            long waited = System.nanoTime() - start;
            session.checkPeers();
            CommunicationOptions options = session.member().options();
            if (waited
                    > TimeUnit.MILLISECONDS.toNanos(record == null ? options.startTimeoutMs() : options.timeoutMs())) {
                throw record == null ? session.nobodyCame(what, waited) : session.giveUp(record, worldRanks, waited);
            }
            LockSupport.parkNanos(NAP_NANOS);
        }
    }

    /** An error that has struck it since; {@link NcclResult#ncclSuccess} if none has, or it has ended. */
    int error() {
        try {
            int state = JNccl.ncclCommGetAsyncError(comm);
            return state == NcclResult.ncclInProgress ? NcclResult.ncclSuccess : state;
        } catch (IllegalStateException e) {
            return NcclResult.ncclSuccess;
        }
    }

    /** The orderly end; all its work is done. */
    void leave() {
        session.remove(this);
        if (comm.isEnded()) {
            return;
        }
        session.backend().makeCurrent();
        if (JNccl.has("ncclCommFinalize")) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LEAVE_MS);
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

    /** The disorderly end: work under way ends too. */
    void abort() {
        JNccl.ncclCommAbort(comm);
    }
}
