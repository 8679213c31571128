package org.tp4j.threads;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.KeyValueStore;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.internal.control.BoardAgreement;
import org.tp4j.comm.internal.control.ControlBoard;
import org.tp4j.comm.internal.control.JobStragglers;
import org.tp4j.comm.internal.control.LocalChannel;
import org.tp4j.comm.internal.control.LocalRankWatch;
import org.tp4j.comm.internal.control.RankEnd;
import org.tp4j.comm.record.FlightRecorder;

/** The ranks started together in one JVM: which have ended, which failed first, what each has called. */
final class ThreadJob {
    private static final long SPIN_NANOS = 50_000; // several times the cost of waking a parked thread
    private static final long CROWDED_SPIN_NANOS = 2_000; // more ranks than cores: a peer needs the core

    private final CommunicationOptions options;
    private final AtomicReferenceArray<@Nullable RankExit> exits;
    private final AtomicReference<@Nullable Throwable> firstFailure = new AtomicReference<>();
    private final FlightRecorder[] recorders;
    private final ControlBoard store;
    private final LocalRankWatch watch;
    private final long spinNanos;

    ThreadJob(int ranks, CommunicationOptions options) {
        this.options = options;
        this.exits = new AtomicReferenceArray<>(ranks);
        this.recorders = new FlightRecorder[ranks];
        Arrays.setAll(recorders, FlightRecorder::new);
        this.store = new ControlBoard(ranks);
        this.watch = new LocalRankWatch(List.of(recorders));
        this.spinNanos = ranks <= Runtime.getRuntime().availableProcessors() ? SPIN_NANOS : CROWDED_SPIN_NANOS;
    }

    CommunicationOptions options() {
        return options;
    }

    FlightRecorder recorder(int worldRank) {
        return recorders[worldRank];
    }

    /** Has a rank's ledger compared with the others'. */
    void connectLedger(int worldRank) {
        if (recorders.length > 1 && options.agreement()) {
            recorders[worldRank].ledger().connect(BoardAgreement.over(new LocalChannel(store, worldRank)));
        }
    }

    /** Where ranks publish values for one another. */
    KeyValueStore store() {
        return store;
    }

    /** Tells a rank which of the others is behind. */
    Stragglers stragglers(int worldRank) {
        return new JobStragglers(watch, worldRank);
    }

    long spinNanos() {
        return spinNanos;
    }

    void finished(int worldRank) {
        exits.compareAndSet(worldRank, null, new RankExit("has returned", null));
        watch.ended(worldRank, RankEnd.Kind.RETURNED, "");
    }

    void failed(int worldRank, Throwable cause) {
        firstFailure.compareAndSet(null, cause);
        exits.compareAndSet(worldRank, null, new RankExit("has failed: " + cause, cause));
        watch.ended(worldRank, RankEnd.Kind.FAILED, cause.toString());
    }

    @Nullable RankExit exit(int worldRank) {
        return exits.get(worldRank);
    }

    /**
     * Waits for the ranks. Once one has failed, those that keep computing are interrupted after {@code graceMs}, and after
     * another {@code graceMs} left behind as daemon threads, so that nothing waits forever.
     */
    void join(List<Thread> threads, long graceMs) {
        boolean interrupted = false;
        long failedAt = 0;
        boolean interruptedRanks = false;
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
                if (sinceMs > graceMs && !interruptedRanks) {
                    interruptedRanks = true;
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
        CommunicationException exception = new CommunicationException(
                thread.getName() + " is still running and ignores interruption; HINT: its stack trace shows where");
        exception.setStackTrace(thread.getStackTrace());
        return exception;
    }

    /** Writes every rank's last calls if a rank has failed and a folder is set for them. */
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

    /** The exception of the first rank to fail, with the other ranks' suppressed in it unless they were caused by it. */
    @Nullable Throwable failure() {
        Throwable first = firstFailure.get();
        if (first == null) {
            return null;
        }
        for (int rank = 0; rank < exits.length(); rank++) {
            RankExit exit = exits.get(rank);
            Throwable cause = exit == null ? null : exit.cause();
            if (cause != null && !isCausedBy(cause, first)) {
                first.addSuppressed(cause);
            }
        }
        return first;
    }

    private static boolean isCausedBy(Throwable error, Throwable first) {
        int depth = 0;
        for (Throwable t = error; t != null && depth < 100; t = t.getCause(), depth++) {
            if (t == first) {
                return true;
            }
        }
        return false;
    }
}
