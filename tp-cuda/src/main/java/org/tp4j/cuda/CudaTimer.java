package org.tp4j.cuda;

import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.driver.Cuda;

/** Time between two points of a device's compute stream, by the device's clock. Starting and stopping do not wait. */
public final class CudaTimer implements AutoCloseable {
    private final CudaBackend backend;
    private final CUevent start = new CUevent();
    private final CUevent stop = new CUevent();

    /** @param backend the device whose compute stream is timed */
    public CudaTimer(CudaBackend backend) {
        this.backend = backend;
        backend.makeCurrent();
        Cuda.check(JCudaDriver.cuEventCreate(start, CUevent_flags.CU_EVENT_DEFAULT), "cuEventCreate");
        Cuda.check(JCudaDriver.cuEventCreate(stop, CUevent_flags.CU_EVENT_DEFAULT), "cuEventCreate");
    }

    /** Marks the start: the point at which all work enqueued on the compute stream so far is done. */
    public void start() {
        record(start);
    }

    /** Marks the end. */
    public void stop() {
        record(stop);
    }

    private void record(CUevent event) {
        backend.checkUsable();
        backend.makeCurrent();
        Cuda.check(JCudaDriver.cuEventRecord(event, backend.computeStreamHandle()), "cuEventRecord");
    }

    /** Milliseconds from start to end; waits for the end. The resolution is about half a microsecond. */
    public double elapsedMs() {
        backend.makeCurrent();
        Cuda.check(JCudaDriver.cuEventSynchronize(stop), "cuEventSynchronize");
        float[] ms = {0};
        Cuda.check(JCudaDriver.cuEventElapsedTime(ms, start, stop), "cuEventElapsedTime");
        return ms[0];
    }

    /** Destroys the events. */
    @Override
    public void close() {
        backend.makeCurrent();
        JCudaDriver.cuEventDestroy(start);
        JCudaDriver.cuEventDestroy(stop);
    }
}
