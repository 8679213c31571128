package org.tp4j.cuda.stream;

/** A point in a stream's work. */
public interface CudaEvent extends AutoCloseable {
    /** The name in a {@link StreamTrace} of the point it marks; each marked point has its own name. */
    String label();

    /** Whether the stream has passed the point. For a point in a captured step: whether its capture has ended. */
    boolean isDone();

    /** Waits until the stream has passed the point. */
    void synchronize();

    /** Returns the event for reuse. Streams that already wait for it still do: a wait refers to the point marked then. */
    @Override
    void close();
}
