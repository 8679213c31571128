package org.tp4j.cuda.stream;

/** An in-order queue of a device's work. Its methods may be called from any thread. */
public interface CudaStream {
    /** What it is for, such as {@code compute}. */
    String name();

    /** The driver's {@code CUstream} as a number, for bindings of other libraries. */
    long handle();

    /** Marks this point: the event completes when all work enqueued so far has completed. The caller closes the event. */
    CudaEvent record();

    /**
     * Work enqueued on the stream from now on starts after the event; the caller does not wait.
     *
     * <p>Has no effect if only one of the two belongs to a captured step: all streams are synchronized before a step is
     * captured, and when it runs, its work falls between the compute stream's earlier and later work.
     *
     * @param event an event of the same device
     */
    void waitFor(CudaEvent event);

    /** Waits until all work enqueued on the stream so far has completed. */
    void synchronize();

    /** Whether all work enqueued on the stream so far has completed. */
    boolean isIdle();

    /** Whether work enqueued on it is captured into a graph instead of executed. */
    boolean isCapturing();

    /** Adds an entry to the {@link StreamTrace}, if there is one. */
    void note(StreamTrace.Kind kind, String what);
}
