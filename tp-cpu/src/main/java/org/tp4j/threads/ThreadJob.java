package org.tp4j.threads;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.KeyValueStore;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.internal.control.LocalKeyValueStore;
import org.tp4j.comm.internal.control.RecordedStragglers;
import org.tp4j.comm.record.FlightRecorder;

/** The ranks started together in one JVM: who has left, who failed first, what each has called. */
final class ThreadJob {
    private static final long SPIN_NANOS = 50_000; // a few times what waking a parked thread takes
    private static final long CROWDED_SPIN_NANOS = 2_000; // more ranks than cores: the core is needed by a peer

    private final CommunicationOptions options;
    private final AtomicReferenceArray<@Nullable RankExit> departures;
    private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();
    private final FlightRecorder[] recorders;
    private final LocalKeyValueStore rendezvous = new LocalKeyValueStore();
    private final long spinNanos;
    private volatile @Nullable String failureNote;

    ThreadJob(int ranks, CommunicationOptions options) {
        this.options = options;
        this.departures = new AtomicReferenceArray<>(ranks);
        this.recorders = new FlightRecorder[ranks];
        Arrays.setAll(recorders, FlightRecorder::new);
        this.spinNanos = ranks <= Runtime.getRuntime().availableProcessors() ? SPIN_NANOS : CROWDED_SPIN_NANOS;
    }

    CommunicationOptions options() {
        return options;
    }

    FlightRecorder recorder(int worldRank) {
        return recorders[worldRank];
    }

    /** Where ranks leave notes for one another. */
    KeyValueStore rendezvous() {
        return rendezvous;
    }

    /** What tells a rank which of the others is behind. */
    Stragglers stragglers(int worldRank) {
        return new RecordedStragglers(List.of(recorders), worldRank, () -> Optional.ofNullable(failureNote));
    }

    long spinNanos() {
        return spinNanos;
    }

    void finished(int worldRank) {
        departures.compareAndSet(worldRank, null, new RankExit("has finished", null));
    }

    void failed(int worldRank, Throwable cause) {
        if (firstFailure.compareAndSet(null, cause)) {
            failureNote = "rank " + worldRank + " has failed: " + cause;
        }
        departures.compareAndSet(worldRank, null, new RankExit("has failed: " + cause, cause));
    }

    @Nullable RankExit departure(int worldRank) {
        return departures.get(worldRank);
    }

    /**
     * Waits for the ranks. Once one has failed, those that go on computing are given {@code graceMs}, then interrupted,
     * then, after as long again, left behind as daemons: nobody waits for ever.
     */
    void join(List<Thread> threads, long graceMs) {
        boolean interrupted = false;
        long failedAt = 0;
        boolean urged = false;
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                try {
                    thread.join(20);
                } catch (InterruptedException e) {
                    interrupted = true;
                    firstFailure.compareAndSet(
                            null, new CommunicationException("the thread that waits for the ranks was interrupted", e));
                    threads.forEach(Thread::interrupt);
                }
                if (firstFailure.get() == null) {
                    continue;
                }
                failedAt = failedAt == 0 ? System.nanoTime() : failedAt;
                long sinceMs = (System.nanoTime() - failedAt) / 1_000_000;
                if (sinceMs > graceMs && !urged) {
                    urged = true;
                    threads.forEach(Thread::interrupt);
                } else if (sinceMs > 2 * graceMs) {
                    failed(threads.indexOf(thread), leftBehind(thread));
                    break;
                }
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static CommunicationException leftBehind(Thread thread) {
        CommunicationException note =
                new CommunicationException(thread.getName() + " still runs and does not react to being interrupted");
        note.setStackTrace(thread.getStackTrace());
        return note;
    }

    /** Writes every rank's last calls, if there has been a failure and a folder is set for them. */
    void writeFlightRecords() {
        Throwable first = firstFailure.get();
        Path folder = options.flightRecord();
        if (first == null || folder == null) {
            return;
        }
        try {
            for (FlightRecorder recorder : recorders) {
                recorder.write(folder, first.toString());
            }
        } catch (IOException e) {
            first.addSuppressed(e);
        }
    }

    /** What the first rank to fail threw, the others' exceptions suppressed unless they only follow from it. */
    @Nullable Throwable failure() {
        Throwable first = firstFailure.get();
        if (first == null) {
            return null;
        }
        for (int rank = 0; rank < departures.length(); rank++) {
            RankExit departure = departures.get(rank);
            Throwable cause = departure == null ? null : departure.cause();
            if (cause != null && !follows(cause, first)) {
                first.addSuppressed(cause);
            }
        }
        return first;
    }

    private static boolean follows(Throwable error, Throwable first) {
        int depth = 0;
        for (Throwable t = error; t != null && depth < 100; t = t.getCause(), depth++) {
            if (t == first) {
                return true;
            }
        }
        return false;
    }
}
