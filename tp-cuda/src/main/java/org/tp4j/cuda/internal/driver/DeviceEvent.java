package org.tp4j.cuda.internal.driver;

import java.util.function.Consumer;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.stream.CudaEvent;

/** An event of the driver, taken from an {@link EventPool} and returned to it. */
public final class DeviceEvent implements CudaEvent {
    private final CudaDevice device;
    private final Consumer<DeviceEvent> returned;
    private final CUevent event = new CUevent();
    private boolean taken; // guarded by the pool
    private volatile @Nullable CaptureNumber stream; // of the stream it was recorded on last
    private volatile int capture;
    private volatile long mark;

    /** @param returned called when the event is closed */
    DeviceEvent(CudaDevice device, Consumer<DeviceEvent> returned, int flags) {
        this.device = device;
        this.returned = returned;
        Cuda.check(JCudaDriver.cuEventCreate(event, flags), "cuEventCreate");
    }

    boolean isTaken() {
        return taken;
    }

    void setTaken(boolean value) {
        taken = value;
    }

    /** Whether both were last recorded on the same stream. */
    public boolean isOnStreamOf(DeviceEvent other) {
        return stream == other.stream;
    }

    /** The capture in which it was last recorded. */
    int capture() {
        return capture;
    }

    void recorded(CaptureNumber on, long newMark) {
        stream = on;
        capture = on.get();
        mark = newMark;
    }

    /** The number of the point it marks, unique on the device, so that an earlier use is distinct from a later one. */
    public long mark() {
        return mark;
    }

    CUevent event() {
        return event;
    }

    @Override
    public String label() {
        return "event " + mark;
    }

    @Override
    public boolean isDone() {
        CaptureNumber recordedOn = stream;
        if (capture != CaptureNumber.NONE && recordedOn != null) {
            return recordedOn.get() != capture;
        }
        device.makeCurrent();
        int result = JCudaDriver.cuEventQuery(event);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        Cuda.check(result, "cuEventQuery");
        return true;
    }

    @Override
    public void synchronize() {
        if (isDone()) {
            return;
        }
        device.makeCurrent();
        Cuda.check(JCudaDriver.cuEventSynchronize(event), "cuEventSynchronize");
    }

    @Override
    public void close() {
        returned.accept(this);
    }

    void destroy() {
        JCudaDriver.cuEventDestroy(event);
    }
}
