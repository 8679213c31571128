package org.tp4j.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.IdentityHashMap;
import java.util.Map;
import jcuda.Pointer;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.StepNumber;
import org.tp4j.tensor.TpException;

/**
 * Device memory in which a captured step's kernels find the numbers that the host computes anew for each run. Pinned buffers
 * take turns, so that the host may be a few runs ahead of the device.
 */
final class StepSlots {
    private static final int CAPACITY = 8192; // numbers; one a dropout call, two a parameter group
    private static final int BUFFERS = 4;
    private static final ThreadLocal<@Nullable StepSlots> CURRENT = new ThreadLocal<>();

    private final CudaStream stream;
    private final Lease memory;
    private final Map<StepNumber, Integer> slots = new IdentityHashMap<>();
    private final Pointer[] pinned = new Pointer[BUFFERS];
    private final @Nullable CudaEvent[] copied = new CudaEvent[BUFFERS];
    private int turn;

    StepSlots(CudaBackend backend) {
        this.stream = backend.computeStream();
        Lease lease = backend.pool().take((long) CAPACITY * Long.BYTES);
        if (lease == null) {
            throw new TpException("out of memory on " + backend.device() + " for the numbers of a captured step");
        }
        this.memory = lease;
        for (int i = 0; i < BUFFERS; i++) {
            pinned[i] = new Pointer();
            Cuda.check(JCudaDriver.cuMemHostAlloc(pinned[i], (long) CAPACITY * Long.BYTES, 0), "cuMemHostAlloc");
        }
    }

    /** Makes these the ones that kernels launched on this thread refer to, or with null ends that. */
    static void setCurrent(@Nullable StepSlots slots) {
        CURRENT.set(slots);
    }

    /** Where the kernels of the step that is being captured on this thread find a number; 0 while none is. */
    static long addressOf(StepNumber number) {
        StepSlots current = CURRENT.get();
        return current == null ? 0 : current.address(number);
    }

    private long address(StepNumber number) {
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

    /** Brings all numbers to the device, in the order of the compute stream. */
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
