package org.tp4j.cuda.stream;

import java.util.ArrayList;
import java.util.List;

/**
 * The order in which work was enqueued on a device's streams, which shows what can run concurrently: two pieces
 * of work on different streams can, unless a recorded event and a wait for it lie between them.
 */
public final class StreamTrace {
    /** The kind of work. */
    public enum Kind {
        /** One of our kernels. */
        KERNEL,
        /** A matrix product. */
        GEMM,
        /** A copy between the host and the device, or a fill. */
        COPY,
        /** A collective. */
        COLLECTIVE,
        /** A captured step. */
        GRAPH,
        /** An event was recorded. */
        RECORD,
        /** The stream waits for an event. */
        WAIT
    }

    /**
     * One piece of work.
     *
     * @param stream name of the stream
     * @param kind what it is
     * @param what its name: the kernel's, the event's, the collective's
     */
    public record Entry(String stream, Kind kind, String what) {
        @Override
        public String toString() {
            return stream + ": " + kind + " " + what;
        }
    }

    private final List<Entry> entries = new ArrayList<>();

    /** Adds an entry. */
    public synchronized void add(String stream, Kind kind, String what) {
        entries.add(new Entry(stream, kind, what));
    }

    /** The work enqueued so far, in order. */
    public synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    @Override
    public synchronized String toString() {
        StringBuilder text = new StringBuilder();
        entries.forEach(entry -> text.append(entry).append('\n'));
        return text.toString();
    }
}
