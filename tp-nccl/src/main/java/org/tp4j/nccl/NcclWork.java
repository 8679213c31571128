package org.tp4j.nccl;

import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.Work;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.StreamTrace;

/**
 * A call under way on a stream. To await it is to make the compute stream wait, not the host: what is asked of the device
 * next comes after it.
 */
final class NcclWork implements Work {
    private static final long NAP_MS = 5;

    private final NcclSession session;
    private final CallRecord record;
    private final List<Integer> peers;
    private final boolean captured;
    private @Nullable CudaEvent ready; // the compute stream has got to the call
    private @Nullable CudaEvent done; // the call is complete; null before it is on its stream and when it is over
    private String endLabel = "";
    private boolean issued;
    private boolean over;
    private boolean awaited;
    private long startedNanos; // when the watchdog first saw that it could run; 0 before

    /**
     * A call.
     *
     * @param peers world ranks that take part
     * @param ready marks what the call has to come after, on the compute stream; null if it is on that itself
     */
    NcclWork(NcclSession session, CallRecord record, List<Integer> peers, @Nullable CudaEvent ready) {
        this.peers = peers;
        this.session = session;
        this.record = record;
        this.ready = ready;
        this.captured = session.backend().computeStream().isCapturing();
    }

    CallRecord record() {
        return record;
    }

    /** World ranks that take part. */
    List<Integer> peers() {
        return peers;
    }

    /** Whether it is part of a captured step, which runs it later and again. */
    boolean isCaptured() {
        return captured;
    }

    CudaEvent ready() {
        return Objects.requireNonNull(ready);
    }

    /** It is on its stream; {@code end} marks where it is complete. */
    synchronized void issued(CudaEvent end) {
        done = end;
        endLabel = end.label();
        issued = true;
        if (captured) {
            record.done();
        }
        notifyAll();
    }

    @Override
    public synchronized boolean isDone() {
        session.checkUsable();
        CudaEvent end = done;
        return over || (issued && end != null && end.isDone());
    }

    @Override
    public synchronized void await() {
        session.checkUsable();
        awaitIssued();
        CudaEvent end = done;
        if (awaited) {
            return;
        }
        awaited = true;
        if (end == null) {
            session.backend().computeStream().note(StreamTrace.Kind.WAIT, endLabel); // it has been seen to be over
        } else {
            session.backend().computeStream().waitFor(end);
            if (captured) {
                closeEvents();
            }
        }
    }

    /** A message may have to wait until its peer has been found. */
    private void awaitIssued() {
        while (!issued && !over) {
            try {
                wait(NAP_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommunicationException("interrupted in " + record, e);
            }
            session.checkUsable();
        }
    }

    /** Looks whether it is over, and if so lets go of what it holds; for the watchdog. */
    synchronized boolean retire() {
        CudaEvent end = done;
        if (!over && end != null && end.isDone()) {
            record.done();
            closeEvents();
        }
        return over;
    }

    private void closeEvents() {
        over = true;
        if (ready != null) {
            ready.close();
            ready = null;
        }
        if (done != null) {
            done.close();
            done = null;
        }
    }

    /** How long it could have run, if everything before it on its stream is done; for the watchdog. */
    synchronized long waitedNanos() {
        CudaEvent begin = ready;
        if (startedNanos == 0 && (begin == null || !issued || begin.isDone())) {
            startedNanos = issued ? System.nanoTime() : record.postedNanos();
        }
        return startedNanos == 0 ? 0 : System.nanoTime() - startedNanos;
    }

    boolean isLate(long timeoutMs) {
        return waitedNanos() > TimeUnit.MILLISECONDS.toNanos(timeoutMs);
    }
}
