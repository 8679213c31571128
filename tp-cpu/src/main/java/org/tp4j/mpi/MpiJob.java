package org.tp4j.mpi;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.internal.control.Heartbeat;
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
    private @Nullable Heartbeat heartbeat;
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

    void setHeartbeat(Heartbeat started) {
        heartbeat = started;
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
            if (waited > options.timeoutMs() * 1_000_000L) {
                giveUp(call, waited);
            }
        }
    }

    private void giveUp(Call call, long waitedNanos) {
        Heartbeat beat = heartbeat;
        String report = beat == null
                ? String.format(
                        Locale.ROOT,
                        "rank %d has waited %.1f s in %s",
                        recorder.worldRank(),
                        waitedNanos * 1e-9,
                        call.record())
                : beat.report(call.record(), call.worldRanks(), waitedNanos);
        synchronized (this) {
            underWay.remove(call);
            call.fail(new CommunicationException(
                    report + "; HINT: -D" + CommunicationOptions.TIMEOUT + "=N allows more time, -D"
                            + CommunicationOptions.CHECKING + "=true reports ranks that disagree on a call"));
        }
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

    synchronized long split(long handle, int color, int key) {
        return MpiNative.split(handle, color, key);
    }

    synchronized void free(long handle) {
        if (!failed) {
            MpiNative.free(handle);
        }
    }
}
