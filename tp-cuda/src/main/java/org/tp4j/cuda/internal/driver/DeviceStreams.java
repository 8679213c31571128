package org.tp4j.cuda.internal.driver;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.stream.CudaStream;
import org.tp4j.cuda.stream.StreamTrace;

/** A device's streams: one for kernels, one with a higher priority for collectives, and any created on request. */
public final class DeviceStreams {
    private static final long SPIN_NANOS = 50_000;
    private static final long NAP_NANOS = 100_000;

    private final CudaDevice device;
    private final EventPool events;
    private final int highestPriority;
    private final DeviceStream compute;
    private final DeviceStream communication;
    private final List<DeviceStream> all = new CopyOnWriteArrayList<>();

    /** Creates the compute and the communication stream. */
    public DeviceStreams(CudaDevice device) {
        this.device = device;
        this.events = new EventPool(device);
        device.makeCurrent();
        int[] least = {0};
        int[] greatest = {0};
        Cuda.check(JCudaDriver.cuCtxGetStreamPriorityRange(least, greatest), "cuCtxGetStreamPriorityRange");
        this.highestPriority = greatest[0];
        this.compute = new DeviceStream(device, events, "compute", least[0]);
        this.communication = new DeviceStream(device, events, "communication", highestPriority);
        all.add(compute);
        all.add(communication);
    }

    /** The stream of kernels, products and copies. */
    public DeviceStream compute() {
        return compute;
    }

    /** The stream of collectives. */
    public DeviceStream communication() {
        return communication;
    }

    /** All streams, the compute stream first; changes with {@link #create} and {@link #release(CudaStream)}. */
    public List<DeviceStream> all() {
        return Collections.unmodifiableList(all);
    }

    /** Another stream with the priority of the communication stream. */
    public DeviceStream create(String name) {
        DeviceStream stream = new DeviceStream(device, events, name, highestPriority);
        all.add(stream);
        return stream;
    }

    /** Destroys a stream of {@link #create} once its work has completed; no effect on other streams. */
    public void release(CudaStream stream) {
        if (stream instanceof DeviceStream own && own != compute && own != communication && all.remove(own)) {
            own.release();
        }
    }

    /** Polls until no stream has work left; throws if the device fails meanwhile. */
    public void awaitIdle(DeviceHealth health) {
        compute.checkNotCapturing();
        for (DeviceStream stream : all) {
            long start = System.nanoTime();
            while (!stream.isIdle()) {
                health.check();
                if (System.nanoTime() - start < SPIN_NANOS) {
                    Thread.onSpinWait();
                } else {
                    LockSupport.parkNanos(NAP_NANOS);
                }
            }
        }
    }

    /** Records in {@code trace} what is enqueued from now on; null stops recording. */
    public void setTrace(@Nullable StreamTrace trace) {
        all.forEach(stream -> stream.setTrace(trace));
    }

    /** Destroys all streams and events. */
    public void release() {
        events.release();
        all.forEach(DeviceStream::release);
    }
}
