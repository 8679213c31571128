package org.tp4j.cuda;

import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.TpException;

/** An in-order queue of a device's work. Its methods may be called from any thread. */
public final class CudaStream {
    private final CudaDevice device;
    private final EventPool events;
    private final String name;
    private final Native stream = new Native();
    private volatile @Nullable StreamTrace trace;
    private volatile int capture;

    /** JCuda's handle, with the number in it in reach. */
    private static final class Native extends CUstream {
        long number() {
            return getNativePointer();
        }
    }

    /** @param priority as in {@code cuStreamCreateWithPriority}: lower numbers go first */
    CudaStream(CudaDevice device, EventPool events, String name, int priority) {
        this.device = device;
        this.events = events;
        this.name = name;
        device.makeCurrent();
        Cuda.check(
                JCudaDriver.cuStreamCreateWithPriority(stream, CUstream_flags.CU_STREAM_NON_BLOCKING, priority),
                "cuStreamCreateWithPriority");
    }

    /** What it is for, such as {@code compute}. */
    public String name() {
        return name;
    }

    /** The driver's {@code CUstream} as a number, for bindings of other libraries. */
    public long handle() {
        return stream.number();
    }

    /** JCuda's object for it. */
    CUstream stream() {
        return stream;
    }

    /** Marks this point: the event is done when everything asked of the stream so far is. Close it when nobody needs it. */
    public CudaEvent record() {
        device.makeCurrent();
        CudaEvent event = events.take();
        Cuda.check(JCudaDriver.cuEventRecord(event.event(), stream), "cuEventRecord");
        event.recorded(this);
        note(StreamTrace.Kind.RECORD, event);
        return event;
    }

    /**
     * What is asked of the stream from now on starts after the event; the caller does not wait.
     *
     * <p>Nothing is asked if only one of the two belongs to a captured step: before one is captured everything is waited
     * for, and when one runs all its work is between what the compute stream does before and after.
     */
    public void waitFor(CudaEvent event) {
        if (event.capture() != capture) {
            return;
        }
        device.makeCurrent();
        Cuda.check(JCudaDriver.cuStreamWaitEvent(stream, event.event(), 0), "cuStreamWaitEvent");
        note(StreamTrace.Kind.WAIT, event);
    }

    /** Waits until everything asked of the stream so far is done. */
    public void synchronize() {
        checkNotCapturing();
        device.makeCurrent();
        Cuda.check(JCudaDriver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    }

    /** Whether everything asked of the stream so far is done. */
    public boolean isIdle() {
        device.makeCurrent();
        int result = JCudaDriver.cuStreamQuery(stream);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        Cuda.check(result, "cuStreamQuery");
        return true;
    }

    /** Whether what is asked of it is being captured into a graph instead of carried out. */
    public boolean isCapturing() {
        return capture != 0;
    }

    /** Which capture of a step it takes part in; 0 for none. */
    int capture() {
        return capture;
    }

    void setCapture(int number) {
        capture = number;
    }

    /** Notes what has been asked of the stream, if anybody wants to know. */
    public void note(StreamTrace.Kind kind, String what) {
        StreamTrace current = trace;
        if (current != null) {
            current.add(name, kind, what);
        }
    }

    private void note(StreamTrace.Kind kind, CudaEvent event) {
        if (trace != null) {
            note(kind, event.label());
        }
    }

    /** Whether somebody wants to know what is asked of it. */
    boolean isTraced() {
        return trace != null;
    }

    void setTrace(@Nullable StreamTrace trace) {
        this.trace = trace;
    }

    /** Refuses what cannot be part of a captured step. */
    void checkNotCapturing() {
        if (isCapturing()) {
            throw new TpException(
                    "a step that is being captured moves a value between host and device, or waits for the"
                            + " device; HINT: take it out of the step: fill inputs before CapturedStep.run(), read losses and norms"
                            + " after it");
        }
    }

    void release() {
        device.makeCurrent();
        JCudaDriver.cuStreamDestroy(stream);
    }

    @Override
    public String toString() {
        return name + " stream of cuda:" + device.index();
    }
}
