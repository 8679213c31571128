package org.tp4j.comm.internal.control;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The ranks that have ended, as far as one rank knows. Thread-safe. */
public final class RankEnds {
    private final Map<Integer, Known> ends = new LinkedHashMap<>();

    private record Known(RankEnd end, long sinceNanos) {}

    /** Adds an end; only the first one of a rank counts. */
    synchronized void add(RankEnd end) {
        ends.putIfAbsent(end.rank(), new Known(end, System.nanoTime()));
        notifyAll();
    }

    /** How a rank has ended; null if it has not. */
    public synchronized @Nullable RankEnd of(int rank) {
        Known known = ends.get(rank);
        return known == null ? null : known.end();
    }

    /** For how long it has been known that a rank has ended; 0 if it has not. */
    synchronized long knownMs(int rank) {
        Known known = ends.get(rank);
        return known == null ? 0 : (System.nanoTime() - known.sinceNanos()) / 1_000_000;
    }

    /** The first rank that has ended before its program did, other than one rank. */
    public synchronized Optional<RankEnd> firstFailure(int except) {
        return ends.values().stream()
                .map(Known::end)
                .filter(end -> end.isFailure() && end.rank() != except)
                .findFirst();
    }

    /** All ends, in the order in which they became known: the cause before its consequences. */
    synchronized List<RankEnd> inOrder() {
        return ends.values().stream().map(Known::end).toList();
    }

    /** Number of ranks that have ended. */
    public synchronized int count() {
        return ends.size();
    }

    /** Waits until another rank has ended, or the time is up. */
    public synchronized void awaitChange(long timeoutMs) throws InterruptedException {
        wait(timeoutMs);
    }
}
