package org.tp4j.nccl.internal;

import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.CudaStream;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.NdArray;

/** A CUDA stream that carries calls, one after the other, with the calls under way on it. */
final class CallStream {
    private final NcclContext context;
    private final CudaStream stream;
    private final ConcurrentLinkedQueue<NcclWork> underWay = new ConcurrentLinkedQueue<>();

    CallStream(NcclContext context, CudaStream stream) {
        this.context = context;
        this.stream = stream;
    }

    CudaStream stream() {
        return stream;
    }

    /**
     * A call that comes after the work enqueued on the compute stream so far.
     *
     * @param peers world ranks that take part
     */
    NcclWork begin(CallRecord record, List<Integer> peers) {
        context.checkUsable();
        NcclWork work = new NcclWork(
                context, record, peers, context.backend().computeStream().record());
        if (work.isCaptured()) {
            context.noteCaptured();
        } else {
            underWay.add(work);
        }
        return work;
    }

    /** Tracks work that others have enqueued on the stream, up to {@code end}. */
    void track(CallRecord record, List<Integer> peers, CudaEvent end) {
        NcclWork work = new NcclWork(context, record, peers, null);
        work.enqueued(end);
        underWay.add(work);
    }

    /**
     * Enqueues a call on the stream.
     *
     * @param calls makes the calls to NCCL
     * @param in what is read, null if nothing
     * @param out what is written, null if nothing
     */
    void enqueue(NcclWork work, Runnable calls, @Nullable NdArray in, @Nullable NdArray out) {
        enqueue(work, calls, end -> {
            if (in != null) {
                context.backend().usedOn(in, end);
            }
            if (out != null && out != in) {
                context.backend().usedOn(out, end);
            }
        });
    }

    /**
     * Enqueues a call on the stream.
     *
     * @param calls makes the calls to NCCL
     * @param uses declares until when they use memory
     */
    void enqueue(NcclWork work, Runnable calls, Consumer<CudaEvent> uses) {
        context.backend().makeCurrent();
        stream.waitFor(work.ready());
        try {
            calls.run();
        } catch (RuntimeException e) {
            underWay.remove(work);
            throw e;
        }
        stream.note(StreamTrace.Kind.COLLECTIVE, work.record().call().toString());
        CudaEvent end = stream.record();
        uses.accept(end);
        work.enqueued(end);
    }

    /** Releases the calls that are done; returns the oldest one that is not, or null. */
    @Nullable NcclWork oldest() {
        NcclWork head = underWay.peek();
        while (head != null && head.releaseIfDone()) {
            underWay.remove(head);
            head = underWay.peek();
        }
        return head;
    }

    /** Marks the records of the calls under way as failed. */
    void failAll() {
        underWay.forEach(work -> work.record().failed());
    }
}
