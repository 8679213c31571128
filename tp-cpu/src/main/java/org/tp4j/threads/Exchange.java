package org.tp4j.threads;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationOptions;

/** What the ranks of one in-JVM group share: the chains of their calls, and how to wait for a call. */
final class Exchange {
    private static final long PARK_NANOS = 5_000_000; // upper bound on the time to notice a failed peer

    private final ThreadJob job;
    private final String name;
    private final List<Integer> worldRanks;
    private final AtomicReferenceArray<@Nullable SharedCall> collectives;
    private final Map<Long, SharedCall> channels = new HashMap<>(); // those that one side has not taken yet
    private final AtomicIntegerArray closed;

    Exchange(ThreadJob job, String name, List<Integer> worldRanks) {
        this.job = job;
        this.name = name;
        this.worldRanks = List.copyOf(worldRanks);
        int size = worldRanks.size();
        this.collectives = new AtomicReferenceArray<>(size);
        SharedCall head = new SharedCall(size);
        for (int rank = 0; rank < size; rank++) {
            collectives.set(rank, head);
        }
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

    /**
     * Head of the chain of collectives for a rank, which takes it once; the first call is its successor. Whoever kept it would
     * keep all calls.
     */
    SharedCall takeCollectives(int rank) {
        return Objects.requireNonNull(collectives.getAndSet(rank, null));
    }

    /**
     * Head of the chain of messages from one rank to another; the first message is its successor. Each side takes it once, with
     * its first message.
     */
    synchronized SharedCall takeChannel(int from, int to) {
        long key = (long) from * worldRanks.size() + to;
        SharedCall waiting = channels.remove(key);
        if (waiting != null) {
            return waiting;
        }
        SharedCall created = new SharedCall(2);
        channels.put(key, created);
        return created;
    }

    void close(int rank) {
        closed.set(rank, 1);
    }

    /** Waits until the call has left {@code state}, and returns the new state. Fails the call if that cannot happen. */
    int waitWhile(int state, SharedCall call, Party party) {
        long start = System.nanoTime();
        long spin = job.spinNanos();
        for (int i = 1; ; i++) {
            int now = call.state();
            if (now != state) {
                return now;
            }
            Thread.onSpinWait();
            if ((i & 31) == 0 && System.nanoTime() - start > spin) {
                break;
            }
        }
        party.record().awaited();
        party.setWaiter(Thread.currentThread());
        try {
            while (call.state() == state) {
                LockSupport.parkNanos(call, PARK_NANOS);
                if (state == SharedCall.OPEN && call.state() == state) {
                    checkPeers(call, party, System.nanoTime() - start);
                    if (Thread.currentThread().isInterrupted()) {
                        call.fail("rank " + party.rank() + " was interrupted in " + party.record(), null);
                    }
                }
            }
        } finally {
            party.setWaiter(null);
        }
        return call.state();
    }

    private void checkPeers(SharedCall call, Party party, long waitedNanos) {
        List<Integer> missing = new ArrayList<>();
        for (int slot = 0; slot < call.partyCount(); slot++) {
            int rank = rankAt(slot, party);
            int worldRank = worldRanks.get(rank);
            // In this order: calls that a rank joined before it ended can then be seen.
            RankExit exit = job.exit(worldRank);
            boolean hasClosed = closed.get(rank) == 1;
            if (call.party(slot) != null) {
                continue;
            }
            missing.add(worldRank);
            if (exit != null || hasClosed) {
                String what = exit == null ? "has closed the group" : exit.what();
                call.fail(
                        "rank " + worldRank + " " + what + "; rank " + worldRanks.get(party.rank()) + " needs it in "
                                + party.record(),
                        exit == null ? null : exit.cause());
                return;
            }
        }
        if (waitedNanos > job.options().timeoutMs() * 1_000_000L) {
            call.fail(timeoutMessage(missing, party, waitedNanos), null);
        }
    }

    private String timeoutMessage(List<Integer> missing, Party party, long waitedNanos) {
        return job.stragglers(worldRanks.get(party.rank())).report(party.record(), missing, waitedNanos) + "; HINT: -D"
                + CommunicationOptions.TIMEOUT + "=N allows more time";
    }

    /** The rank in a slot of the party's call: in a message there are two, this rank and its peer. */
    private static int rankAt(int slot, Party party) {
        if (!party.record().call().kind().isPointToPoint()) {
            return slot;
        }
        return slot == party.slot() ? party.rank() : party.record().call().root();
    }
}
