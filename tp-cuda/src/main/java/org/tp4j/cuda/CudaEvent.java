package org.tp4j.cuda;

import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/** A point in a stream's work. */
public final class CudaEvent implements AutoCloseable {
    private final CudaDevice device;
    private final EventPool pool;
    private final CUevent event = new CUevent();
    private boolean taken; // guarded by the pool
    private volatile @Nullable CudaStream stream;
    private volatile int capture;
    private volatile long mark;

    CudaEvent(CudaDevice device, EventPool pool, int flags) {
        this.device = device;
        this.pool = pool;
        Cuda.check(JCudaDriver.cuEventCreate(event, flags), "cuEventCreate");
    }

    boolean isTaken() {
        return taken;
    }

    void setTaken(boolean value) {
        taken = value;
    }

    /** The stream it was recorded on last. */
    @Nullable CudaStream stream() {
        return stream;
    }

    /** Which capture of a step it was recorded in last; 0 for none. */
    int capture() {
        return capture;
    }

    void recorded(CudaStream on) {
        stream = on;
        capture = on.capture();
        mark = pool.nextMark();
    }

    /** The number of the point it marks: another one each time it is recorded, so that a past use can be told. */
    long mark() {
        return mark;
    }

    CUevent event() {
        return event;
    }

    /** The name in a {@link StreamTrace} of the point it marks; the next point it marks has another. */
    public String label() {
        return "event " + mark;
    }

    /** Whether the point has been passed. Of a point in a captured step: whether its capture is over. */
    public boolean isDone() {
        CudaStream recordedOn = stream;
        if (capture != 0 && recordedOn != null) {
            return recordedOn.capture() != capture;
        }
        device.makeCurrent();
        int result = JCudaDriver.cuEventQuery(event);
        if (result == CUresult.CUDA_ERROR_NOT_READY) {
            return false;
        }
        Cuda.check(result, "cuEventQuery");
        return true;
    }

    /** Waits until the point has been passed. */
    public void synchronize() {
        if (isDone()) {
            return;
        }
        device.makeCurrent();
        Cuda.check(JCudaDriver.cuEventSynchronize(event), "cuEventSynchronize");
    }

    /**
     * Gives it back for another use. Streams that were told to wait for it still do: a wait is for the point that was
     * marked when it was asked for.
     */
    @Override
    public void close() {
        pool.give(this);
    }

    void destroy() {
        JCudaDriver.cuEventDestroy(event);
    }
}
