package org.tp4j.comm.engine;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;

/**
 * Notices two threads of a rank that use one group at the same time: ranks match calls by their order, which would be left to
 * chance, and values of one thread's call would end up in the other's.
 */
final class GroupUse {
    private final String group;
    private final AtomicReference<@Nullable Thread> inCall = new AtomicReference<>();
    private volatile @Nullable Last last;

    /** The latest collective, and the thread that called it. */
    private record Last(CallRecord record, Thread caller) {}

    GroupUse(String group) {
        this.group = group;
    }

    /** A thread is about to make a call. */
    void enter(Collective kind) {
        Thread current = Thread.currentThread();
        Thread other = inCall.compareAndExchange(null, current);
        if (other != null && other != current) {
            throw conflict(other, "is making a call", kind);
        }
        Last before = last;
        if (before != null && before.caller() != current && !before.record().isSettled()) {
            inCall.set(null);
            throw conflict(before.caller(), "has not awaited " + before.record(), kind);
        }
    }

    /** The thread has made the call. */
    void made(CallRecord record) {
        if (!record.call().kind().isPointToPoint()) {
            Last before = last;
            Thread current = Thread.currentThread();
            last = before != null && before.record() == record ? before : new Last(record, current);
        }
    }

    /** The thread has left the call. */
    void leave() {
        inCall.set(null);
    }

    private CommunicationException conflict(Thread other, String what, Collective kind) {
        return new CommunicationException("two threads use group '" + group + "' at the same time: thread '"
                + other.getName() + "' " + what + ", and thread '"
                + Thread.currentThread().getName() + "' calls " + kind
                + "; HINT: ranks match the calls on a group by their order, so only one thread may use it: give each thread a"
                + " group of its own with split, or await a call before another thread makes the next");
    }
}
