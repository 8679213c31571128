package org.tp4j.threads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationOptions;

/** What the ranks of one in-JVM group share: the chains of their meetings, and how to wait in them. */
final class Exchange {
    private static final long PARK_NANOS = 5_000_000; // how soon a failed peer is noticed at the latest

    private final ThreadJob job;
    private final String name;
    private final List<Integer> worldRanks;
    private final SharedCall collectives;
    private final AtomicReferenceArray<@Nullable SharedCall> channels;
    private final AtomicIntegerArray closed;

    Exchange(ThreadJob job, String name, List<Integer> worldRanks) {
        this.job = job;
        this.name = name;
        this.worldRanks = List.copyOf(worldRanks);
        int size = worldRanks.size();
        this.collectives = new SharedCall(size);
        this.channels = new AtomicReferenceArray<>(size * size);
        this.closed = new AtomicIntegerArray(size);
    }

    ThreadJob job() {
        return job;
    }

    String name() {
        return name;
    }

    List<Integer> worldRanks() {
        return worldRanks;
    }

    /** Start of the chain of collectives; the first call is its next. */
    SharedCall collectives() {
        return collectives;
    }

    /** Start of the chain of messages from one rank to another; the first message is its next. */
    SharedCall channel(int from, int to) {
        int at = from * worldRanks.size() + to;
        SharedCall found = channels.get(at);
        if (found == null) {
            SharedCall created = new SharedCall(2);
            found = channels.compareAndExchange(at, null, created);
            if (found == null) {
                found = created;
            }
        }
        return found;
    }

    void close(int rank) {
        closed.set(rank, 1);
    }

    /** Waits until the meeting has left {@code state}; returns the new one. Fails the meeting if that cannot happen. */
    int waitWhile(int state, SharedCall meeting, ThreadWork post) {
        long start = System.nanoTime();
        long spin = job.spinNanos();
        for (int i = 1; ; i++) {
            int now = meeting.state();
            if (now != state) {
                return now;
            }
            Thread.onSpinWait();
            if ((i & 31) == 0 && System.nanoTime() - start > spin) {
                break;
            }
        }
        post.setWaiter(Thread.currentThread());
        try {
            while (meeting.state() == state) {
                LockSupport.parkNanos(meeting, PARK_NANOS);
                if (state == SharedCall.OPEN && meeting.state() == state) {
                    checkPeers(meeting, post, System.nanoTime() - start);
                    if (Thread.currentThread().isInterrupted()) {
                        meeting.fail("rank " + post.rank() + " was interrupted in " + post.record(), null);
                    }
                }
            }
        } finally {
            post.setWaiter(null);
        }
        return meeting.state();
    }

    private void checkPeers(SharedCall meeting, ThreadWork post, long waitedNanos) {
        List<Integer> missing = new ArrayList<>();
        for (int slot = 0; slot < meeting.parties(); slot++) {
            int rank = rankAt(slot, post);
            int worldRank = worldRanks.get(rank);
            // In this order: what a rank posted before it left is there to be seen.
            RankExit departure = job.departure(worldRank);
            boolean hasClosed = closed.get(rank) == 1;
            if (meeting.post(slot) != null) {
                continue;
            }
            missing.add(worldRank);
            if (departure != null || hasClosed) {
                String what = departure == null ? "has closed the group" : departure.what();
                meeting.fail(
                        "rank " + worldRank + " " + what + "; " + post.record() + " cannot complete",
                        departure == null ? null : departure.cause());
                return;
            }
        }
        if (waitedNanos > job.options().timeoutMs() * 1_000_000L) {
            meeting.fail(lateness(missing, post, waitedNanos), null);
        }
    }

    private String lateness(List<Integer> missing, ThreadWork post, long waitedNanos) {
        StringBuilder text = new StringBuilder();
        text.append(String.format(
                java.util.Locale.ROOT,
                "rank %d of group '%s' has waited %.1f s in ",
                post.rank(),
                name,
                waitedNanos * 1e-9));
        text.append(post.record()).append(" for ");
        text.append(missing.size() == 1 ? "world rank " + missing.get(0) : "world ranks " + missing);
        for (int rank : missing) {
            text.append("; ").append(job.recorder(rank).position());
        }
        return text.append("; HINT: -D")
                .append(CommunicationOptions.TIMEOUT)
                .append("=N allows more time")
                .toString();
    }

    private static int rankAt(int slot, ThreadWork post) {
        if (!post.record().call().kind().isPointToPoint()) {
            return slot;
        }
        return slot == post.slot() ? post.rank() : post.record().call().root();
    }
}
