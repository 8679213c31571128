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
import org.tp4j.comm.record.FlightRecorder;

/**
 * This process's part of an MPI job: what all its groups share. One lock guards MPI and everything under way, so that
 * any thread may call.
 */
final class MpiJob {
    private static final long SPIN_NANOS = 100_000; // peers that have a core each come within this, or are computing
    private static final long YIELD_NANOS = 3_000_000;
    private static final long NAP_NANOS = 50_000;

    private final CommunicationOptions options;
    private final FlightRecorder recorder;
    private final MpiTags tags;
    private final boolean crowded;
    private final NativeBuffer.Pool pool = new NativeBuffer.Pool();
    private final List<MpiWork> underWay = new ArrayList<>();
    private final List<NativeBuffer> abandoned = new ArrayList<>();
    private @Nullable Heartbeat heartbeat;
    private boolean failed;

    /**
     * A part.
     *
     * @param crowded whether the machine has fewer cores than ranks
     */
    MpiJob(CommunicationOptions options, FlightRecorder recorder, boolean crowded) {
        this.options = options;
        this.recorder = recorder;
        this.tags = new MpiTags(MpiNative.largestTag());
        this.crowded = crowded;
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

    /** Keeps memory that MPI may still write to out of the collector's hands. */
    void abandon(List<NativeBuffer> memory) {
        abandoned.addAll(memory);
        failed = true;
    }

    synchronized void start(MpiWork work) {
        if (!work.start()) {
            underWay.add(work);
        }
    }

    /** Everything under way goes as far as it can: a peer may need what this process has not awaited yet. */
    synchronized void progress() {
        for (Iterator<MpiWork> each = underWay.iterator(); each.hasNext(); ) {
            if (each.next().progress()) {
                each.remove();
            }
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // yielding is what lets more ranks than cores get on
    void await(MpiWork work) {
        long start = System.nanoTime();
        long waited = 0;
        while (true) {
            progress();
            if (work.isOver()) {
                return;
            }
            if (!crowded && waited < SPIN_NANOS) {
                Thread.onSpinWait();
            } else if (waited < YIELD_NANOS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
            waited = System.nanoTime() - start;
            if (waited > options.timeoutMs() * 1_000_000L) {
                giveUp(work, waited);
            }
        }
    }

    private void giveUp(MpiWork work, long waitedNanos) {
        Heartbeat beat = heartbeat;
        String report = beat == null
                ? String.format(
                        Locale.ROOT,
                        "rank %d has waited %.1f s in %s",
                        recorder.worldRank(),
                        waitedNanos * 1e-9,
                        work.record)
                : beat.report(work.record, work.group.worldRanks(), waitedNanos);
        synchronized (this) {
            underWay.remove(work);
            work.fail(new CommunicationException(
                    report + "; HINT: -D" + CommunicationOptions.TIMEOUT + "=N allows more time, -D"
                            + CommunicationOptions.CHECKING + "=true tells ranks that disagree on a call"));
        }
    }

    /** Waits for whatever nobody has awaited: peers may need it. */
    void drain() {
        while (true) {
            MpiWork next;
            synchronized (this) {
                if (underWay.isEmpty()) {
                    return;
                }
                next = underWay.get(0);
            }
            next.await();
        }
    }

    synchronized long split(long comm, int color, int key) {
        return MpiNative.split(comm, color, key);
    }

    synchronized void free(long comm) {
        if (!failed) {
            MpiNative.free(comm);
        }
    }
}
