package org.tp4j.threads;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;

/**
 * One call, shared by the ranks that take part in it, its parties.
 *
 * <p>Each party arrives with its arrays. When the last one has arrived, the data movement is known and divided into chunks; a
 * party that waits takes chunks until none is left. A chunk reads every party's input and writes every party's output, so a
 * waiting party needs the others only to have arrived, not to wait as well, and when all chunks are done no party needs
 * another one's arrays any more. Work of a single chunk is done at once by the last party to arrive.
 *
 * <p>The calls of one group form a chain, in call order: the first rank to get there creates the next one. Calls that all
 * ranks have passed are garbage.
 */
final class SharedCall {
    /** Some parties have not arrived. */
    static final int OPEN = 0;

    /** All have arrived; the last of them is at work. */
    static final int BUSY = 1;

    /** There are chunks to do. */
    static final int READY = 2;

    /** All outputs are written, no input is needed any more. */
    static final int DONE = 3;

    /** Ended by an error. */
    static final int FAILED = 4;

    private static final VarHandle STATE;
    private static final VarHandle NEXT;
    private static final VarHandle FAILURE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STATE = lookup.findVarHandle(SharedCall.class, "state", int.class);
            NEXT = lookup.findVarHandle(SharedCall.class, "next", SharedCall.class);
            FAILURE = lookup.findVarHandle(SharedCall.class, "failure", Failure.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final AtomicReferenceArray<@Nullable Party> parties;
    private final AtomicInteger arrived = new AtomicInteger();
    private final AtomicInteger claimed = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();
    private volatile int state = OPEN;
    private volatile @Nullable SharedCall next;
    private volatile @Nullable DataMovement movement; // if more than one chunk; written before state becomes READY
    private volatile @Nullable Failure failure;

    /** Why a call failed. */
    private record Failure(String message, @Nullable Throwable cause) {}

    SharedCall(int parties) {
        this.parties = new AtomicReferenceArray<>(parties);
    }

    int partyCount() {
        return parties.length();
    }

    int state() {
        return state;
    }

    /** The party in a slot; null if it has not arrived. */
    @Nullable Party party(int slot) {
        return parties.get(slot);
    }

    /** The next call of the chain. */
    SharedCall next() {
        SharedCall found = next;
        if (found == null) {
            SharedCall created = new SharedCall(partyCount());
            found = (SharedCall) NEXT.compareAndExchange(this, null, created);
            if (found == null) {
                found = created;
            }
        }
        return found;
    }

    /**
     * Adds a party, and compares its call with those of the parties that have arrived.
     *
     * @param movement what to do once all have arrived, given the parties; all parties' movements are equivalent
     */
    void arrive(Party party, Function<Party[], DataMovement> movement) {
        parties.set(party.slot(), party);
        for (int i = 0; i < partyCount(); i++) {
            Party other = parties.get(i);
            if (other != null
                    && i != party.slot()
                    && !party.record().agrees(party.rank(), other.record(), other.rank())) {
                fail(i < party.slot() ? disagreement(other, party) : disagreement(party, other), null);
            }
        }
        if (arrived.incrementAndGet() == partyCount()) {
            begin(movement);
        }
    }

    private static String disagreement(Party first, Party second) {
        return "ranks of group '" + first.record().group() + "' disagree on call "
                + first.record().sequence() + ": rank " + first.rank() + " calls "
                + first.record().callInModule() + ", rank " + second.rank() + " calls "
                + second.record().callInModule() + "; HINT: all ranks of a group make the same calls in the same order,"
                + " with the same type, shape, counts, root and reduction";
    }

    private void begin(Function<Party[], DataMovement> plan) {
        if (!STATE.compareAndSet(this, OPEN, BUSY)) {
            return;
        }
        try {
            Party[] all = new Party[partyCount()];
            for (int i = 0; i < all.length; i++) {
                all[i] = Objects.requireNonNull(parties.get(i));
            }
            DataMovement planned = plan.apply(all);
            if (planned.chunks() > 1) {
                movement = planned;
                state = READY;
                wakeAll();
                return;
            }
            if (planned.chunks() == 1) {
                planned.run(0);
            }
        } catch (RuntimeException | Error e) {
            noteFailure(e);
        }
        end();
    }

    /** Does chunks until all are claimed. */
    void help() {
        if (state != READY) {
            return;
        }
        DataMovement work = movement;
        if (work == null) {
            return; // done meanwhile
        }
        int chunks = work.chunks();
        for (int chunk = claimed.getAndIncrement(); chunk < chunks; chunk = claimed.getAndIncrement()) {
            try {
                work.run(chunk);
            } catch (RuntimeException | Error e) {
                noteFailure(e);
            }
            if (finished.incrementAndGet() == chunks) {
                end();
            }
        }
    }

    private void noteFailure(Throwable cause) {
        failure = new Failure(cause.getMessage() + " (in " + describe() + ")", cause);
    }

    /** Ends the call: no thread touches the arrays any more. */
    private void end() {
        boolean good = failure == null;
        state = good ? DONE : FAILED;
        wakeAll();
        if (good) {
            movement = null;
            for (int i = 0; i < partyCount(); i++) {
                parties.set(i, null); // with the arrays, which the group's latest call would keep
            }
        }
    }

    /** Fails a call that cannot proceed, for every party; no effect once all have arrived. */
    void fail(String message, @Nullable Throwable cause) {
        Failure reason = new Failure(message, cause);
        if (FAILURE.compareAndSet(this, null, reason) && STATE.compareAndSet(this, OPEN, FAILED)) {
            wakeAll();
        }
    }

    /** The error of a failed call, created for each party so that it has that party's stack trace. */
    CommunicationException exception() {
        Failure found = failure;
        return found == null
                ? new CommunicationException(describe() + " failed")
                : new CommunicationException(found.message(), found.cause());
    }

    private String describe() {
        for (int i = 0; i < partyCount(); i++) {
            Party party = parties.get(i);
            if (party != null) {
                return party.record().toString();
            }
        }
        return "a call";
    }

    private void wakeAll() {
        for (int i = 0; i < partyCount(); i++) {
            Party party = parties.get(i);
            if (party != null) {
                party.wake();
            }
        }
    }
}
