package org.tp4j.nccl.internal;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.nccl.JNccl;
import org.tp4j.nccl.NcclUniqueId;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * What all parts of a session share: the rank, its device, and whether the session has failed or ended.
 *
 * <p>A session fails as a whole: the first failure is passed to the backend, so that whatever the rank's threads wait for or
 * enqueue next throws it, and all communicators are aborted, so that the device's streams go on.
 */
final class NcclContext {
    private static final Logger LOG = LoggerFactory.getLogger(NcclContext.class);
    private static final long POLL_NANOS = 1_000_000;
    private static final String HINT = "; HINT: -D" + CommunicationOptions.TIMEOUT + "=N allows more time, -D"
            + CommunicationOptions.CHECKING + "=true reports ranks that disagree on a call";

    private final GroupMember member;
    private final CudaBackend backend;
    private final List<Runnable> failureActions = new CopyOnWriteArrayList<>();
    private volatile @Nullable CommunicationException failure;
    private volatile boolean ended;
    private volatile boolean hasCapturedCalls;

    NcclContext(GroupMember member) {
        if (!(member.backend() instanceof CudaBackend cuda)) {
            throw new IllegalArgumentException("NCCL connects CUDA devices, but this rank is on "
                    + member.backend().device() + "; HINT: choose the device type cuda");
        }
        this.member = member;
        this.backend = cuda;
    }

    GroupMember member() {
        return member;
    }

    CudaBackend backend() {
        return backend;
    }

    /** How long a rank waits for its peers to join. */
    long startTimeoutMs() {
        return member.options().startTimeoutMs();
    }

    long timeoutMs() {
        return member.options().timeoutMs();
    }

    /** A call has become part of a captured step. */
    void noteCaptured() {
        hasCapturedCalls = true;
    }

    boolean hasCapturedCalls() {
        return hasCapturedCalls;
    }

    /** Runs {@code action} when the session fails; actions run in the order in which they were added. */
    void onFailure(Runnable action) {
        failureActions.add(action);
    }

    /** The id of a new communicator: created by one rank, passed to the others that know the key. */
    NcclUniqueId shareId(String key, boolean creates) {
        String name = "nccl/" + key;
        if (creates) {
            NcclUniqueId id = JNccl.ncclGetUniqueId();
            member.store().set(name, id.bytes());
            return id;
        }
        long start = System.nanoTime();
        while (true) {
            Optional<byte[]> bytes = member.store().get(name);
            if (bytes.isPresent()) {
                return NcclUniqueId.of(bytes.get());
            }
            checkUsable();
            checkPeers();
            long waited = System.nanoTime() - start;
            if (waited > TimeUnit.MILLISECONDS.toNanos(startTimeoutMs())) {
                throw joinTimeout(key, waited);
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    /** Throws if a rank has announced that it failed. */
    void checkPeers() {
        member.stragglers().failure().ifPresent(peerFailure -> {
            throw new CommunicationException(peerFailure + "; rank " + member.rank() + " needs it");
        });
    }

    /**
     * Throws if a call cannot complete any more, since one of its ranks has ended before it did its part.
     *
     * @param peers world ranks that take part
     */
    void checkObstacle(CallRecord record, List<Integer> peers) {
        member.stragglers().obstacle(record, peers).ifPresent(why -> {
            throw new CommunicationException(why);
        });
    }

    /**
     * Throws if one of a call's ranks has made a different one. Asks the control channel.
     *
     * @param peers world ranks that take part
     */
    void checkAgreement(CallRecord record, List<Integer> peers) {
        Optional<String> disagreement;
        try {
            disagreement = member.stragglers().disagreement(record, peers);
        } catch (CommunicationException e) {
            LOG.debug("rank {} cannot compare calls: {}", member.rank(), e.getMessage());
            return; // the timeout says more
        }
        disagreement.ifPresent(what -> {
            throw new CommunicationException(what);
        });
    }

    /** Throws if the session has failed or ended. */
    void checkUsable() {
        CommunicationException reason = failure;
        if (reason != null) {
            throw new CommunicationException(String.valueOf(reason.getMessage()), reason);
        }
        if (ended) {
            throw new CommunicationException(
                    "rank " + member.rank()
                            + " uses a group whose session is closed; HINT: make no calls after the rank's program has returned");
        }
    }

    /** The error of a new group that some ranks do not join. */
    CommunicationException joinTimeout(String what, long waitedNanos) {
        return new CommunicationException(String.format(
                Locale.ROOT,
                "rank %d has waited %.1f s in %s for all of %d ranks to join; HINT: check that all ranks were started, and"
                        + " read their output; -D%s=N allows more time",
                member.rank(),
                waitedNanos * 1e-9,
                what,
                member.size(),
                CommunicationOptions.TIMEOUT));
    }

    /**
     * Fails the session because a call does not complete; returns the reason.
     *
     * @param peers world ranks that take part
     */
    CommunicationException timeout(CallRecord record, List<Integer> peers, long waitedNanos) {
        CommunicationException reason =
                new CommunicationException(member.stragglers().report(record, peers, waitedNanos) + HINT);
        fail(reason);
        return reason;
    }

    /** Fails the session; only the first reason counts. */
    void fail(CommunicationException reason) {
        synchronized (this) {
            if (failure != null || ended) {
                return;
            }
            failure = reason;
        }
        backend.fail(reason);
        LOG.debug("rank {} aborts its communicators: {}", member.rank(), reason.getMessage());
        failureActions.forEach(Runnable::run);
    }

    boolean hasFailed() {
        return failure != null;
    }

    boolean hasEnded() {
        return ended;
    }

    void end() {
        ended = true;
    }

    /** Whether the session can make no more calls. */
    boolean isOver() {
        return ended || failure != null;
    }

    /** An array for a few numbers, not owned by any scope. */
    NdArray allocate(DType dtype, long elements) {
        return Scope.outside(() -> NdArray.allocate(backend, dtype, Shape.of(elements)));
    }
}
