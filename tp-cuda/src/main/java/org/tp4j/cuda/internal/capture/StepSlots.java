package org.tp4j.cuda.internal.capture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.IdentityHashMap;
import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.memory.Lease;
import org.tp4j.cuda.internal.memory.MemoryPool;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.TpException;

/**
 * Device memory from which a captured step's kernels read the numbers that the host recomputes for each run. Pinned buffers
 * alternate, so the host may be a few runs ahead of the device.
 */
final class StepSlots {
    private static final int CAPACITY = 8192; // numbers; one per dropout call, two per parameter group
    private static final int BUFFERS = 4;

    private final DeviceStream stream;
    private final Lease memory;
    private final Map<StepNumber, Integer> slots = new IdentityHashMap<>();
    private final Pointer[] pinned = new Pointer[BUFFERS];
    private final @Nullable CudaEvent[] copied = new CudaEvent[BUFFERS];
    private int turn;

    /** @param stream the stream that runs the step */
    StepSlots(MemoryPool pool, DeviceStream stream) {
        this.stream = stream;
        this.memory = pool.require((long) CAPACITY * Long.BYTES, "the numbers of a captured step");
        for (int i = 0; i < BUFFERS; i++) {
            pinned[i] = new Pointer();
            Cuda.check(JCudaDriver.cuMemHostAlloc(pinned[i], (long) CAPACITY * Long.BYTES, 0), "cuMemHostAlloc");
        }
    }

    /** The address from which kernels read a number. */
    long addressOf(StepNumber number) {
        Integer slot = slots.get(number);
        if (slot == null) {
            slot = slots.size();
            if (slot == CAPACITY) {
                throw new TpException("a captured step computes more than " + CAPACITY + " numbers on the host");
            }
            slots.put(number, slot);
        }
        return memory.memory().address() + (long) slot * Long.BYTES;
    }

    /** Enqueues a copy of all numbers to the device. */
    void upload() {
        if (slots.isEmpty()) {
            return;
        }
        CudaEvent last = copied[turn];
        if (last != null) {
            last.synchronize();
            last.close();
        }
        long bytes = (long) slots.size() * Long.BYTES;
        ByteBuffer buffer = pinned[turn].getByteBuffer(0, bytes).order(ByteOrder.nativeOrder());
        slots.forEach((number, slot) -> buffer.putLong(slot * Long.BYTES, number.bits()));
        Cuda.check(
                JCudaDriver.cuMemcpyHtoDAsync(memory.memory(), pinned[turn], bytes, stream.stream()),
                "cuMemcpyHtoDAsync");
        copied[turn] = stream.record();
        turn = (turn + 1) % BUFFERS;
    }

    /** Frees the memory; the step must not run again. */
    void release() {
        for (int i = 0; i < BUFFERS; i++) {
            CudaEvent last = copied[i];
            if (last != null) {
                last.synchronize();
                last.close();
            }
            JCudaDriver.cuMemFreeHost(pinned[i]);
        }
        memory.end();
    }
}
