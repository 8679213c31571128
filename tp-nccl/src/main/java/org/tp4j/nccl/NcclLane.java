package org.tp4j.nccl;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.CudaStream;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.NdArray;

/** A stream that carries calls, one after the other, and what is under way on it. */
final class NcclLane {
    private final NcclSession session;
    private final CudaStream stream;
    private final ConcurrentLinkedQueue<NcclWork> underWay = new ConcurrentLinkedQueue<>();

    NcclLane(NcclSession session, CudaStream stream) {
        this.session = session;
        this.stream = stream;
    }

    CudaStream stream() {
        return stream;
    }

    /**
     * A call that comes after everything the compute stream has been asked for so far.
     *
     * @param peers world ranks that take part
     */
    NcclWork begin(CallRecord record, List<Integer> peers) {
        session.checkUsable();
        NcclWork work = new NcclWork(
                session, record, peers, session.backend().computeStream().record());
        if (work.isCaptured()) {
            session.noteCaptured();
        } else {
            underWay.add(work);
        }
        return work;
    }

    /** Watches something that others have put on the stream, until {@code end}. */
    void watch(CallRecord record, List<Integer> peers, CudaEvent end) {
        NcclWork work = new NcclWork(session, record, peers, null);
        work.issued(end);
        underWay.add(work);
    }

    /**
     * Puts a call on the stream.
     *
     * @param calls makes the calls to NCCL
     * @param in what is read, if anything
     * @param out what is written, if anything
     */
    void issue(NcclWork work, Runnable calls, @Nullable NdArray in, @Nullable NdArray out) {
        session.backend().makeCurrent();
        stream.waitFor(work.ready());
        try {
            calls.run();
        } catch (RuntimeException e) {
            underWay.remove(work);
            throw e;
        }
        stream.note(StreamTrace.Kind.COLLECTIVE, work.record().call().toString());
        CudaEvent end = stream.record();
        if (in != null) {
            session.backend().usedOn(in, end);
        }
        if (out != null && out != in) {
            session.backend().usedOn(out, end);
        }
        work.issued(end);
    }

    /** Lets go of what is over; the oldest call that is not, or null. */
    @Nullable NcclWork oldest() {
        NcclWork head = underWay.peek();
        while (head != null && head.retire()) {
            underWay.remove(head);
            head = underWay.peek();
        }
        return head;
    }

    /** Notes in their records that the calls under way have failed. */
    void failAll() {
        underWay.forEach(work -> work.record().failed());
    }
}
