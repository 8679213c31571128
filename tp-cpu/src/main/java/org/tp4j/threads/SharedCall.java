package org.tp4j.threads;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;

/**
 * Where the ranks of one call meet.
 *
 * <p>Each party posts its arrays. When the last one has posted, the data movement is known and cut into chunks; a party
 * that waits takes chunks until none is left. A chunk reads every party's input and writes every party's output, so a
 * party that waits needs the others only to have posted, not to wait as well, and when all chunks are done nobody needs
 * anybody's arrays any more. Work of a single chunk is done by the last to post, at once.
 *
 * <p>Meetings of one group form a chain, in call order: the first rank to come creates the next one. What all ranks
 * have left behind is garbage.
 */
final class SharedCall {
    /** Some parties have not posted. */
    static final int OPEN = 0;

    /** All have posted; the last of them is at work. */
    static final int BUSY = 1;

    /** Chunks are there to be done. */
    static final int READY = 2;

    /** All outputs are written, no input is needed. */
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

    private final AtomicReferenceArray<@Nullable ThreadWork> posts;
    private final AtomicInteger posted = new AtomicInteger();
    private final AtomicInteger claimed = new AtomicInteger();
    private final AtomicInteger finished = new AtomicInteger();
    private volatile int state = OPEN;
    private volatile @Nullable SharedCall next;
    private @Nullable DataMovement movement; // of more than one chunk; set before state becomes READY
    private volatile @Nullable Failure failure;

    /** Why a meeting failed. */
    private record Failure(String message, @Nullable Throwable cause) {}

    SharedCall(int parties) {
        posts = new AtomicReferenceArray<>(parties);
    }

    int parties() {
        return posts.length();
    }

    int state() {
        return state;
    }

    @Nullable ThreadWork post(int slot) {
        return posts.get(slot);
    }

    /** The next meeting of the chain. */
    SharedCall next() {
        SharedCall found = next;
        if (found == null) {
            SharedCall created = new SharedCall(parties());
            found = (SharedCall) NEXT.compareAndExchange(this, null, created);
            if (found == null) {
                found = created;
            }
        }
        return found;
    }

    /** Brings one party; checks it against those that are here already. */
    void arrive(ThreadWork post) {
        posts.set(post.slot(), post);
        for (int i = 0; i < parties(); i++) {
            ThreadWork other = posts.get(i);
            if (other != null && i != post.slot() && !post.record().agrees(post.rank(), other.record(), other.rank())) {
                fail(i < post.slot() ? disagreement(other, post) : disagreement(post, other), null);
            }
        }
        if (posted.incrementAndGet() == parties()) {
            begin();
        }
    }

    private static String disagreement(ThreadWork first, ThreadWork second) {
        return "ranks of group '" + first.record().group() + "' disagree on call "
                + first.record().sequence() + ": rank " + first.rank() + " asks "
                + first.record().asked() + ", rank " + second.rank() + " asks "
                + second.record().asked() + "; HINT: all ranks of a group make the same calls in the same order, with"
                + " the same type, shape, counts, root and reduction";
    }

    private void begin() {
        if (!STATE.compareAndSet(this, OPEN, BUSY)) {
            return;
        }
        try {
            ThreadWork[] all = new ThreadWork[parties()];
            for (int i = 0; i < all.length; i++) {
                all[i] = java.util.Objects.requireNonNull(posts.get(i));
            }
            DataMovement found = DataMovement.of(all);
            if (found.chunks() > 1) {
                movement = found;
                state = READY;
                wakeAll();
                return;
            }
            if (found.chunks() == 1) {
                found.run(0);
            }
        } catch (RuntimeException | Error e) {
            broken(e);
        }
        end();
    }

    /** Does chunks until none is left unclaimed. */
    void help() {
        if (state != READY) {
            return;
        }
        DataMovement work = java.util.Objects.requireNonNull(movement);
        int chunks = work.chunks();
        for (int chunk = claimed.getAndIncrement(); chunk < chunks; chunk = claimed.getAndIncrement()) {
            try {
                work.run(chunk);
            } catch (RuntimeException | Error e) {
                broken(e);
            }
            if (finished.incrementAndGet() == chunks) {
                end();
            }
        }
    }

    private void broken(Throwable cause) {
        failure = new Failure(cause.getMessage() + " (in " + describe() + ")", cause);
    }

    /** Nobody touches the arrays any more. */
    private void end() {
        state = failure == null ? DONE : FAILED;
        wakeAll();
    }

    /** Ends a meeting that cannot come about with an error for every party; does nothing once all have posted. */
    void fail(String message, @Nullable Throwable cause) {
        Failure reason = new Failure(message, cause);
        if (FAILURE.compareAndSet(this, null, reason) && STATE.compareAndSet(this, OPEN, FAILED)) {
            wakeAll();
        }
    }

    /** The error of a failed meeting, new for each party so that its stack is its own. */
    CommunicationException exception() {
        Failure found = failure;
        return found == null
                ? new CommunicationException(describe() + " failed")
                : new CommunicationException(found.message(), found.cause());
    }

    private String describe() {
        for (int i = 0; i < parties(); i++) {
            ThreadWork post = posts.get(i);
            if (post != null) {
                return post.record().toString();
            }
        }
        return "a call";
    }

    private void wakeAll() {
        for (int i = 0; i < parties(); i++) {
            ThreadWork post = posts.get(i);
            if (post != null) {
                post.wake();
            }
        }
    }
}
