package org.tp4j.mpi;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.FlightRecorder;

/**
 * This process's part of an MPI job: what all its communicators share. One lock guards MPI and all calls under way, so that
 * any thread may make calls.
 */
final class MpiJob {
    private static final long SPIN_NANOS = 100_000; // peers with a core each arrive within this, or are computing
    private static final long YIELD_NANOS = 3_000_000;
    private static final long NAP_NANOS = 50_000;
    private static final long CHECK_NANOS = 20_000_000;
    private static final long COMPARISON_NANOS = 1_000_000_000;

    /** A call under way, as the job advances it. Guarded by the job's lock, except for {@link #await} and {@link #isOver}. */
    interface Call {
        /** Its record. */
        CallRecord record();

        /** World ranks that take part. */
        List<Integer> worldRanks();

        /** Starts it; true if it is over already. */
        boolean start();

        /** Advances it as far as possible without blocking; true if it is over. */
        boolean progress();

        /** Whether it is over; does not advance it. */
        boolean isOver();

        /** Ends it with an error. */
        void fail(CommunicationException reason);

        /** Waits until it is over. */
        void await();
    }

    private final CommunicationOptions options;
    private final FlightRecorder recorder;
    private final MpiTags tags;
    private final boolean oversubscribed;
    private final NativeBuffer.Pool pool = new NativeBuffer.Pool();
    private final List<Call> underWay = new ArrayList<>();
    private final List<NativeBuffer> abandoned = new ArrayList<>();
    private @Nullable Stragglers stragglers;
    private boolean failed;

    /**
     * A process's part.
     *
     * @param oversubscribed whether the machine has fewer cores than ranks
     */
    MpiJob(CommunicationOptions options, FlightRecorder recorder, boolean oversubscribed) {
        this.options = options;
        this.recorder = recorder;
        this.tags = new MpiTags(MpiNative.largestTag());
        this.oversubscribed = oversubscribed;
    }

    void setStragglers(Stragglers known) {
        stragglers = known;
    }

    FlightRecorder recorder() {
        return recorder;
    }

    MpiTags tags() {
        return tags;
    }

    NativeBuffer.Pool pool() {
        return pool;
    }

    /** Keeps memory that MPI may still write to from being garbage collected. */
    void abandon(List<NativeBuffer> memory) {
        abandoned.addAll(memory);
        failed = true;
    }

    synchronized void start(Call call) {
        if (!call.start()) {
            underWay.add(call);
        }
    }

    /** Advances every call under way: a peer may need one that this process has not awaited yet. */
    synchronized void progress() {
        for (Iterator<Call> each = underWay.iterator(); each.hasNext(); ) {
            if (each.next().progress()) {
                each.remove();
            }
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what makes more ranks than cores workable
    void await(Call call) {
        long start = System.nanoTime();
        long waited = 0;
        long nextCheck = CHECK_NANOS;
        long nextComparison = Math.min(COMPARISON_NANOS, options.timeoutMs() * 500_000L);
        while (true) {
            progress();
            if (call.isOver()) {
                return;
            }
            if (!oversubscribed && waited < SPIN_NANOS) {
                Thread.onSpinWait();
            } else if (waited < YIELD_NANOS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
            waited = System.nanoTime() - start;
            if (waited >= nextCheck) {
                nextCheck = waited + CHECK_NANOS;
                checkPeers(call);
            }
            if (waited >= nextComparison) {
                nextComparison = waited + COMPARISON_NANOS;
                compare(call);
            }
            if (waited > options.timeoutMs() * 1_000_000L) {
                giveUp(call, waited);
            }
        }
    }

    /** Fails a call that needs a rank that has ended. */
    private void checkPeers(Call call) {
        Stragglers known = stragglers;
        if (known == null) {
            return;
        }
        Optional<String> obstacle = known.obstacle(call.record(), call.worldRanks())
                .or(() -> known.failure()
                        .map(failure -> failure + "; rank " + recorder.worldRank() + " was in " + call.record()));
        if (obstacle.isPresent()) {
            progress(); // what the rank has sent before it ended
            end(call, obstacle.get());
        }
    }

    /** Fails a call that will not complete since a peer has made a different one. */
    private void compare(Call call) {
        Stragglers known = stragglers;
        try {
            Optional<String> disagreement =
                    known == null ? Optional.empty() : known.disagreement(call.record(), call.worldRanks());
            disagreement.ifPresent(text -> end(call, text));
        } catch (CommunicationException e) {
            return; // rank 0 does not answer now; the timeout says more
        }
    }

    private void end(Call call, String reason) {
        synchronized (this) {
            underWay.remove(call);
            call.fail(new CommunicationException(reason));
        }
    }

    private void giveUp(Call call, long waitedNanos) {
        Stragglers known = stragglers;
        String report = known == null
                ? String.format(
                        Locale.ROOT,
                        "rank %d has waited %.1f s in %s",
                        recorder.worldRank(),
                        waitedNanos * 1e-9,
                        call.record())
                : known.report(call.record(), call.worldRanks(), waitedNanos);
        end(
                call,
                report + "; HINT: -D" + CommunicationOptions.TIMEOUT + "=N allows more time, -D"
                        + CommunicationOptions.CHECKING + "=true reports ranks that disagree on a call");
    }

    /** Waits for the calls that have not been awaited: peers may need them. */
    void drain() {
        while (true) {
            Call next;
            synchronized (this) {
                if (underWay.isEmpty()) {
                    return;
                }
                next = underWay.get(0);
            }
            next.await();
        }
    }

    synchronized long split(CallRecord record, List<Integer> worldRanks, long handle, int color, int key) {
        Stragglers known = stragglers;
        return BlockingCall.run(
                "MPI_Comm_split in " + record,
                options.timeoutMs(),
                () -> known == null ? Optional.empty() : known.obstacle(record, worldRanks),
                () -> MpiNative.split(handle, color, key));
    }

    synchronized void free(long handle) {
        if (!failed) {
            MpiNative.free(handle);
        }
    }
}
