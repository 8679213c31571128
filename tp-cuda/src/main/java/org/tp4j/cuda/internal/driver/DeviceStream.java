package org.tp4j.cuda.internal.driver;

import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.cuda.stream.CudaStream;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.TpException;

/** A stream of the driver. */
public final class DeviceStream implements CudaStream {
    private final CudaDevice device;
    private final EventPool events;
    private final String name;
    private final Native stream = new Native();
    private final CaptureNumber capture = new CaptureNumber();
    private volatile @Nullable StreamTrace trace;

    /** JCuda's handle, with access to its native value. */
    private static final class Native extends CUstream {
        long number() {
            return getNativePointer();
        }
    }

    /** @param priority as in {@code cuStreamCreateWithPriority}: lower numbers go first */
    DeviceStream(CudaDevice device, EventPool events, String name, int priority) {
        this.device = device;
        this.events = events;
        this.name = name;
        device.makeCurrent();
        Cuda.check(
                JCudaDriver.cuStreamCreateWithPriority(stream, CUstream_flags.CU_STREAM_NON_BLOCKING, priority),
                "cuStreamCreateWithPriority");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long handle() {
        return stream.number();
    }

    /** JCuda's object for it. */
    public CUstream stream() {
        return stream;
    }

    @Override
    public DeviceEvent record() {
        device.makeCurrent();
        DeviceEvent event = events.take();
        Cuda.check(JCudaDriver.cuEventRecord(event.event(), stream), "cuEventRecord");
        event.recorded(capture, events.nextMark());
        note(StreamTrace.Kind.RECORD, event);
        return event;
    }

    @Override
    public void waitFor(CudaEvent point) {
        DeviceEvent event = (DeviceEvent) point;
        if (event.capture() != capture.get()) {
            return;
        }
        device.makeCurrent();
        Cuda.check(JCudaDriver.cuStreamWaitEvent(stream, event.event(), 0), "cuStreamWaitEvent");
        note(StreamTrace.Kind.WAIT, event);
    }

    @Override
    public void synchronize() {
        checkNotCapturing();
        device.makeCurrent();
        Cuda.check(JCudaDriver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    }

    @Override
    public boolean isIdle() {
        device.makeCurrent();
        int result = JCudaDriver.cuStreamQuery(stream);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        Cuda.check(result, "cuStreamQuery");
        return true;
    }

    @Override
    public boolean isCapturing() {
        return capture.get() != CaptureNumber.NONE;
    }

    /** Joins a capture, numbered from 1. */
    public void beginCapture(int number) {
        capture.set(number);
    }

    /** Leaves its capture. */
    public void endCapture() {
        capture.set(CaptureNumber.NONE);
    }

    @Override
    public void note(StreamTrace.Kind kind, String what) {
        StreamTrace current = trace;
        if (current != null) {
            current.add(name, kind, what);
        }
    }

    private void note(StreamTrace.Kind kind, DeviceEvent event) {
        if (trace != null) {
            note(kind, event.label());
        }
    }

    /** Whether {@link #note} has an effect. */
    public boolean isTraced() {
        return trace != null;
    }

    void setTrace(@Nullable StreamTrace trace) {
        this.trace = trace;
    }

    /** Throws if the stream takes part in a capture, for calls that cannot be part of a captured step. */
    public void checkNotCapturing() {
        if (isCapturing()) {
            throw new TpException("a step that is being captured moves a value between host and device, or waits for"
                    + " the device; HINT: take it out of the step: fill inputs before CapturedStep.run(), read losses"
                    + " and norms after it");
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
