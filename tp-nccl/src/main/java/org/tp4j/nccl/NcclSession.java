package org.tp4j.nccl;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CallRecord;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.GroupMember;
import org.tp4j.comm.GroupSession;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.cuda.CudaEvent;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/**
 * A rank's part in the communication over NCCL: its communicators, its streams, and the watchdog over them.
 *
 * <p>It fails as a whole: when a call does not complete in time, NCCL reports an error or a rank has said that it failed,
 * all communicators are aborted, which lets the device's streams go on, and the backend is told, so that whatever the rank's
 * threads wait for or ask next throws why.
 */
final class NcclSession implements GroupSession {
    private static final Logger LOG = LoggerFactory.getLogger(NcclSession.class);
    private static final long NAP_NANOS = 50_000;
    private static final long SPIN_NANOS = 100_000; // what a small collective takes
    private static final String HINT = "; HINT: -D" + CommunicationOptions.TIMEOUT + "=N allows more time, -D"
            + CommunicationOptions.CHECKING + "=true tells ranks that disagree on a call";

    private final GroupMember member;
    private final CudaBackend backend;
    private final List<Communicator> communicators = new CopyOnWriteArrayList<>();
    private final List<NcclLane> lanes = new CopyOnWriteArrayList<>();
    private final NcclLane collectives;
    private final NcclLane steps; // captured ones that run again
    private final NcclProcessGroup world;
    private final NcclWatchdog watchdog;
    private volatile @Nullable CommunicationException failure;
    private volatile boolean ended;
    private volatile boolean captures;

    NcclSession(GroupMember member) {
        this.member = member;
        if (!(member.backend() instanceof CudaBackend cuda)) {
            throw new IllegalArgumentException(
                    "NCCL joins devices of CUDA, this is " + member.backend().device());
        }
        this.backend = cuda;
        backend.recover();
        this.collectives = new NcclLane(this, backend.communicationStream());
        this.steps = new NcclLane(this, backend.computeStream());
        lanes.add(collectives);
        lanes.add(steps);
        List<Integer> ranks = new ArrayList<>();
        for (int rank = 0; rank < member.size(); rank++) {
            ranks.add(rank);
        }
        NcclUniqueId id = shareId("world", member.rank() == 0);
        Communicator joined = Communicator.join(this, "the start", ranks, member.rank(), id);
        this.world = new NcclProcessGroup(this, joined, "world", "world", member.rank(), ranks);
        this.watchdog = new NcclWatchdog(this);
        watchdog.start();
        backend.watchCapturedSteps(this::stepLaunched);
        LOG.debug("rank {} of {} over {}", member.rank(), member.size(), Nccl.description());
    }

    @Override
    public NcclProcessGroup world() {
        return world;
    }

    GroupMember member() {
        return member;
    }

    CudaBackend backend() {
        return backend;
    }

    /** The stream of collectives. */
    NcclLane collectives() {
        return collectives;
    }

    /** A call has become part of a captured step. */
    void noteCaptured() {
        captures = true;
    }

    private void stepLaunched(CudaEvent end) {
        if (captures && !isOver()) {
            steps.watch(world.stepRecord(), world.worldRanks(), end);
        } else {
            end.close();
        }
    }

    /** A stream beside it, which the session frees. */
    NcclLane newLane(String name) {
        NcclLane lane = new NcclLane(this, backend.newStream(name));
        lanes.add(lane);
        return lane;
    }

    /** Frees a stream whose work is done. */
    void freeLane(NcclLane lane) {
        lanes.remove(lane);
        backend.release(lane.stream());
    }

    List<NcclLane> lanes() {
        return lanes;
    }

    List<Communicator> communicators() {
        return communicators;
    }

    void add(Communicator communicator) {
        communicators.add(communicator);
    }

    void remove(Communicator communicator) {
        communicators.remove(communicator);
    }

    /** The id of a new communicator: made by one rank, given to the others that know the key. */
    NcclUniqueId shareId(String key, boolean makes) {
        String name = "nccl/" + key;
        if (makes) {
            NcclUniqueId id = JNccl.ncclGetUniqueId();
            member.rendezvous().set(name, id.bytes());
            return id;
        }
        long start = System.nanoTime();
        while (true) {
            Optional<byte[]> note = member.rendezvous().get(name);
            if (note.isPresent()) {
                return NcclUniqueId.of(note.get());
            }
            checkUsable();
            checkPeers();
            long waited = System.nanoTime() - start;
            if (waited > TimeUnit.MILLISECONDS.toNanos(member.options().startTimeoutMs())) {
                throw nobodyCame(key, waited);
            }
            LockSupport.parkNanos(20 * NAP_NANOS);
        }
    }

    /** Throws if a rank has said that it failed. */
    void checkPeers() {
        member.stragglers().failure().ifPresent(said -> {
            throw new CommunicationException(said + "; rank " + member.rank() + " needs it");
        });
    }

    /** Throws what has ended this session, if something has. */
    void checkUsable() {
        CommunicationException reason = failure;
        if (reason != null) {
            throw new CommunicationException(String.valueOf(reason.getMessage()), reason);
        }
        if (ended) {
            throw new CommunicationException(
                    "rank " + member.rank() + " has left the job's communication, and uses it still");
        }
    }

    /** Waits on the host until a call is over. */
    void waitFor(NcclWork work) {
        long start = System.nanoTime();
        while (!work.isDone()) {
            if (System.nanoTime() - start < SPIN_NANOS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }

    /** Waits on the host until everything on a stream is over. */
    void drain(NcclLane lane) {
        while (lane.oldest() != null) {
            checkUsable();
            LockSupport.parkNanos(NAP_NANOS);
        }
    }

    /** Why a new group does not come together. */
    CommunicationException nobodyCame(String what, long waitedNanos) {
        return new CommunicationException(String.format(
                Locale.ROOT,
                "rank %d has waited %.1f s in %s for all of %d ranks to join; HINT: see that all were started and what the"
                        + " others say; -D%s=N allows more time",
                member.rank(),
                waitedNanos * 1e-9,
                what,
                member.size(),
                CommunicationOptions.TIMEOUT));
    }

    /**
     * Ends the session because a call does not complete; returns why.
     *
     * @param peers world ranks that take part
     */
    CommunicationException giveUp(CallRecord record, List<Integer> peers, long waitedNanos) {
        CommunicationException reason =
                new CommunicationException(member.stragglers().report(record, peers, waitedNanos) + HINT);
        fail(reason);
        return reason;
    }

    /** Ends the session; the first reason counts. */
    void fail(CommunicationException reason) {
        synchronized (this) {
            if (failure != null || ended) {
                return;
            }
            failure = reason;
        }
        backend.fail(reason);
        lanes.forEach(NcclLane::failAll);
        LOG.debug("rank {} aborts its communicators: {}", member.rank(), reason.getMessage());
        communicators.forEach(Communicator::abort);
    }

    /** Whether nothing can be asked of it any more. */
    boolean isOver() {
        return ended || failure != null;
    }

    @Override
    public void abort(CommunicationException reason) {
        fail(reason);
        watchdog.end();
    }

    @Override
    public void close() {
        if (ended) {
            return;
        }
        if (failure != null) {
            watchdog.end();
            ended = true;
            backend.watchCapturedSteps(null);
            lanes.forEach(this::freeLane);
            backend.recover(); // the communicators are gone, and nothing of this session is under way any more
            return;
        }
        backend.computeStream().synchronize(); // what it has been asked for may contain collectives
        lanes.forEach(this::drain);
        watchdog.end();
        backend.watchCapturedSteps(null);
        communicators.forEach(Communicator::leave);
        lanes.forEach(this::freeLane);
        ended = true;
    }

    /** An array for a few numbers, which no scope owns. */
    NdArray note(DType dtype, long elements) {
        return Scope.outside(() -> NdArray.allocate(backend, dtype, Shape.of(elements)));
    }
}
