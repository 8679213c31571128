package org.tp4j.nccl.internal;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.HeldMemory;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.StreamTrace;

/**
 * A call under way on a stream. Awaiting it makes the compute stream wait, not the host: whatever is enqueued on the compute
 * stream next comes after the call.
 */
final class NcclWork implements Work {
    private static final long POLL_MS = 5;
    private static final long NAP_NANOS = 50_000;
    private static final long SPIN_NANOS = 100_000; // duration of a small collective

    private final NcclContext context;
    private final CallRecord record;
    private final List<Integer> peers;
    private final boolean captured;
    private @Nullable CudaEvent ready; // the compute stream has reached the call
    private @Nullable CudaEvent done; // the call is complete; null before it is enqueued and once it is released
    private @Nullable HeldMemory scratch; // of the call, until it is complete
    private String doneLabel = "";
    private boolean enqueued;
    private boolean released;
    private boolean awaited;
    private long startedNanos; // when the watchdog first saw that it could run; 0 before

    /**
     * A call.
     *
     * @param peers world ranks that take part
     * @param ready marks what the call must come after on the compute stream; null if it is on that stream itself
     */
    NcclWork(NcclContext context, CallRecord record, List<Integer> peers, @Nullable CudaEvent ready) {
        this.context = context;
        this.record = record;
        this.peers = peers;
        this.ready = ready;
        this.captured = context.backend().computeStream().isCapturing();
    }

    CallRecord record() {
        return record;
    }

    /** World ranks that take part. */
    List<Integer> peers() {
        return peers;
    }

    /** Whether it is part of a captured step, which runs it later, any number of times. */
    boolean isCaptured() {
        return captured;
    }

    CudaEvent ready() {
        return Objects.requireNonNull(ready);
    }

    /** Ends the hold of the call's scratch memory once the call is complete; a captured step's memory is its own. */
    synchronized void closeWhenDone(HeldMemory memory) {
        if (captured || released) {
            memory.close();
        } else {
            scratch = memory;
        }
    }

    /** The call has been enqueued on its stream; {@code end} marks its completion. */
    synchronized void enqueued(CudaEvent end) {
        done = end;
        doneLabel = end.label();
        enqueued = true;
        if (captured) {
            record.done();
        }
        notifyAll();
    }

    @Override
    public synchronized boolean isDone() {
        context.checkUsable();
        CudaEvent end = done;
        return released || (enqueued && end != null && end.isDone());
    }

    @Override
    public synchronized void await() {
        context.checkUsable();
        awaitEnqueued();
        CudaEvent end = done;
        if (awaited) {
            return;
        }
        awaited = true;
        record.awaited();
        record.settled();
        if (end == null) {
            context.backend().computeStream().note(StreamTrace.Kind.WAIT, doneLabel); // it is known to be complete
        } else {
            context.backend().computeStream().waitFor(end);
            if (captured) {
                closeEvents();
            }
        }
    }

    /** Blocks the host until the call is complete. */
    void awaitOnHost() {
        record.awaited();
        long start = System.nanoTime();
        while (!isDone()) {
            if (System.nanoTime() - start < SPIN_NANOS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(NAP_NANOS);
            }
        }
    }

    /** A message may be queued until its link is connected. */
    private void awaitEnqueued() {
        while (!enqueued && !released) {
            try {
                wait(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommunicationException("interrupted in " + record, e);
            }
            context.checkUsable();
        }
    }

    /** Releases the events of the call if it is complete; returns whether it is. */
    synchronized boolean releaseIfDone() {
        CudaEvent end = done;
        if (!released && end != null && end.isDone()) {
            record.done();
            closeEvents();
        }
        return released;
    }

    private void closeEvents() {
        released = true;
        if (scratch != null) {
            scratch.close();
            scratch = null;
        }
        if (ready != null) {
            ready.close();
            ready = null;
        }
        if (done != null) {
            done.close();
            done = null;
        }
    }

    /** How long the call could have run, if everything before it on its stream is done; for the watchdog. */
    synchronized long waitedNanos() {
        CudaEvent begin = ready;
        if (startedNanos == 0 && (begin == null || !enqueued || begin.isDone())) {
            startedNanos = enqueued ? System.nanoTime() : record.postedNanos();
        }
        return startedNanos == 0 ? 0 : System.nanoTime() - startedNanos;
    }

    boolean isLate(long timeoutMs) {
        return waitedNanos() > TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }
}
