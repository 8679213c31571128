package org.tp4j.cuda.internal.memory;

import java.nio.ByteBuffer;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceEvent;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.stream.StreamTrace;

/**
 * Copies between a device and the host's memory by way of pinned buffers: the driver copies at full rate, and no Java array
 * is held while it does, which would stop the garbage collector. The buffers take turns, so that the host fills or empties
 * one while another is copied, and is up to so many copies ahead of the device.
 */
public final class PinnedStaging {
    private static final int CHUNK = 4 << 20;
    private static final int SLOTS = 4;

    private final CudaDevice device;
    private final DeviceStream stream;
    private final @Nullable Pointer[] pointers = new Pointer[SLOTS];
    private final ByteBuffer[] buffers = new ByteBuffer[SLOTS];
    private final @Nullable DeviceEvent[] events = new DeviceEvent[SLOTS];
    private int turn;

    public PinnedStaging(CudaDevice device, DeviceStream stream) {
        this.device = device;
        this.stream = stream;
    }

    /** The next slot, whose last copy is complete. */
    private int takeSlot() {
        int slot = turn;
        turn = (turn + 1) % SLOTS;
        awaitSlot(slot);
        if (pointers[slot] == null) {
            Pointer pointer = new Pointer();
            Cuda.check(JCudaDriver.cuMemHostAlloc(pointer, CHUNK, 0), "cuMemHostAlloc");
            buffers[slot] = pointer.getByteBuffer(0, CHUNK);
            pointers[slot] = pointer;
        }
        return slot;
    }

    /** Copies {@code bytes} to the remaining bytes of {@code to}; waits for the copy. */
    public synchronized void copyOut(CUdeviceptr from, ByteBuffer to, long bytes) {
        device.makeCurrent();
        stream.checkNotCapturing();
        int[] slots = new int[2];
        long asked = 0;
        long done = 0;
        for (int i = 0; done < bytes; i++) {
            // Two copies are in flight before the first buffer is emptied.
            for (int ahead = asked == done ? 2 : 1; ahead > 0 && asked < bytes; ahead--) {
                int slot = takeSlot();
                slots[(int) (asked / CHUNK % 2)] = slot;
                int n = (int) Math.min(CHUNK, bytes - asked);
                Cuda.check(
                        JCudaDriver.cuMemcpyDtoHAsync(pointers[slot], from.withByteOffset(asked), n, stream.stream()),
                        "cuMemcpyDtoHAsync");
                stream.note(StreamTrace.Kind.COPY, "device to host");
                events[slot] = stream.record();
                asked += n;
            }
            int slot = slots[i % 2];
            awaitSlot(slot);
            int n = (int) Math.min(CHUNK, bytes - done);
            to.put(buffers[slot].clear().limit(n));
            done += n;
        }
    }

    /**
     * Copies the remaining bytes of {@code from} to the device, in the order of the stream. Returns when {@code from} has been
     * read; waits for the device only if all buffers are in use.
     */
    public synchronized void copyIn(ByteBuffer from, CUdeviceptr to, long bytes) {
        device.makeCurrent();
        stream.checkNotCapturing();
        for (long asked = 0; asked < bytes; ) {
            int slot = takeSlot();
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
        for (int slot = 0; slot < SLOTS; slot++) {
            Pointer pointer = pointers[slot];
            if (pointer != null) {
                JCudaDriver.cuMemFreeHost(pointer);
                pointers[slot] = null;
            }
        }
    }
}
