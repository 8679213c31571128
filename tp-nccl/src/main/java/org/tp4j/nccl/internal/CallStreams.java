package org.tp4j.nccl.internal;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import org.tp4j.cuda.CudaBackend;

/** The streams that carry a session's calls. */
final class CallStreams {
    private static final long NAP_NANOS = 50_000;

    private final NcclContext context;
    private final List<CallStream> all = new CopyOnWriteArrayList<>();
    private final CallStream collectives;
    private final CallStream capturedSteps;

    CallStreams(NcclContext context) {
        this.context = context;
        CudaBackend backend = context.backend();
        this.collectives = new CallStream(context, backend.communicationStream());
        this.capturedSteps = new CallStream(context, backend.computeStream());
        all.add(collectives);
        all.add(capturedSteps);
        context.onFailure(() -> all.forEach(CallStream::failAll));
    }

    /** The stream of collectives: the backend's communication stream. */
    CallStream collectives() {
        return collectives;
    }

    /** The stream on which captured steps run again: the backend's compute stream. */
    CallStream capturedSteps() {
        return capturedSteps;
    }

    /** The streams that have not been freed. */
    List<CallStream> all() {
        return all;
    }

    /** A new stream. */
    CallStream open(String name) {
        CallStream stream = new CallStream(context, context.backend().newStream(name));
        all.add(stream);
        return stream;
    }

    /** Frees a stream whose work is done. */
    void free(CallStream stream) {
        all.remove(stream);
        context.backend().release(stream.stream());
    }

    /** Frees all streams. */
    void freeAll() {
        all.forEach(this::free);
    }

    /** Waits on the host until all work on a stream is done. */
    void drain(CallStream stream) {
        while (stream.oldest() != null) {
            context.checkUsable();
            LockSupport.parkNanos(NAP_NANOS);
        }
    }

    /** Waits on the host until all work on all streams is done. */
    void drainAll() {
        all.forEach(this::drain);
    }
}
