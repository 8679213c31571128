package org.tp4j.cuda.internal.memory;

import java.nio.ByteBuffer;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceEvent;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.stream.StreamTrace;

/**
 * Copies between a device and the host's memory by way of pinned buffers: the driver copies at full rate, and no Java array
 * is held while it does, which would stop the garbage collector. Two buffers, so that one is copied while the other is filled
 * or emptied.
 */
public final class PinnedStaging {
    private static final int CHUNK = 4 << 20;

    private final CudaDevice device;
    private final DeviceStream stream;
    private final Pointer[] pointers = new Pointer[2];
    private final ByteBuffer[] buffers = new ByteBuffer[2];
    private final DeviceEvent[] events = new DeviceEvent[2];

    public PinnedStaging(CudaDevice device, DeviceStream stream) {
        this.device = device;
        this.stream = stream;
    }

    private void prepare() {
        stream.checkNotCapturing();
        if (buffers[0] == null) {
            for (int i = 0; i < buffers.length; i++) {
                pointers[i] = new Pointer();
                Cuda.check(JCudaDriver.cuMemHostAlloc(pointers[i], CHUNK, 0), "cuMemHostAlloc");
                buffers[i] = pointers[i].getByteBuffer(0, CHUNK);
            }
        }
    }

    /** Copies {@code bytes} to the remaining bytes of {@code to}; waits for it. */
    public synchronized void copyOut(CUdeviceptr from, ByteBuffer to, long bytes) {
        device.makeCurrent();
        prepare();
        long asked = 0;
        long done = 0;
        for (int i = 0; done < bytes; i++) {
            // Two copies are under way before the first is emptied.
            for (int ahead = asked == done ? 2 : 1; ahead > 0 && asked < bytes; ahead--) {
                int slot = (int) (asked / CHUNK % 2);
                int n = (int) Math.min(CHUNK, bytes - asked);
                Cuda.check(
                        JCudaDriver.cuMemcpyDtoHAsync(pointers[slot], from.withByteOffset(asked), n, stream.stream()),
                        "cuMemcpyDtoHAsync");
                stream.note(StreamTrace.Kind.COPY, "device to host");
                events[slot] = stream.record();
                asked += n;
            }
            int slot = i % 2;
            awaitSlot(slot);
            int n = (int) Math.min(CHUNK, bytes - done);
            to.put(buffers[slot].clear().limit(n));
            done += n;
        }
    }

    /** Copies the remaining bytes of {@code from} to the device; waits for it. */
    public synchronized void copyIn(ByteBuffer from, CUdeviceptr to, long bytes) {
        device.makeCurrent();
        prepare();
        long asked = 0;
        for (int i = 0; asked < bytes; i++) {
            int slot = i % 2;
            awaitSlot(slot);
            int n = (int) Math.min(CHUNK, bytes - asked);
            buffers[slot].clear().put(from.slice().limit(n));
            from.position(from.position() + n);
            Cuda.check(
                    JCudaDriver.cuMemcpyHtoDAsync(to.withByteOffset(asked), pointers[slot], n, stream.stream()),
                    "cuMemcpyHtoDAsync");
            stream.note(StreamTrace.Kind.COPY, "host to device");
            events[slot] = stream.record();
            asked += n;
        }
        awaitSlot(0);
        awaitSlot(1);
    }

    private void awaitSlot(int slot) {
        DeviceEvent event = events[slot];
        if (event != null) {
            events[slot] = null;
            event.synchronize();
            event.close();
        }
    }

    public synchronized void release() {
        device.makeCurrent();
        for (Pointer pointer : pointers) {
            if (pointer != null) {
                JCudaDriver.cuMemFreeHost(pointer);
            }
        }
        buffers[0] = null;
    }
}
