package org.tp4j.cuda.internal.memory;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceMemory;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.tensor.OutOfMemoryException;

/**
 * A device's memory, kept for reuse: after the first steps of a training loop the driver is no longer called.
 *
 * <p>All work on the memory is ordered by one stream, so a returned block may be handed out immediately: its next owner writes
 * after the last use. The stream first waits for uses by other streams (see {@link Lease}).
 *
 * <p>Blocks have few sizes ({@link SizeClass}). System properties, read once: {@code tp4j.cuda.pool=false} calls the driver
 * each time, so that tools see where each array ends; {@code tp4j.cuda.poison=true} fills memory with NaN when it is
 * handed out and when it is returned.
 */
public final class MemoryPool implements Lease.Lender {
    private static final boolean POOLED = !"false".equals(System.getProperty("tp4j.cuda.pool"));
    private static final boolean POISON = Boolean.getBoolean("tp4j.cuda.poison");
    private static final byte NAN = (byte) 0xFF; // bytes that form a NaN in every float type
    private static final int COLLECTOR_WAITS = 5;
    private static final long COLLECTOR_WAIT_MS = 40;

    private final CudaDevice device;
    private final DeviceStream stream;
    private final Runnable awaitIdle;
    private final Shelf common = new Shelf();
    private final Set<DeviceMemory> held = Collections.newSetFromMap(new IdentityHashMap<>());
    private final ConcurrentLinkedQueue<Lease> unreachable = new ConcurrentLinkedQueue<>();
    private Shelf shelf = common;
    private long usedBytes;
    private long heldBytes;
    private long driverCalls;

    /**
     * A pool.
     *
     * @param stream the stream that orders all work on the memory
     * @param awaitIdle waits until the device is idle, without blocking the driver
     */
    public MemoryPool(CudaDevice device, DeviceStream stream, Runnable awaitIdle) {
        this.device = device;
        this.stream = stream;
        this.awaitIdle = awaitIdle;
    }

    /**
     * A block of at least {@code bytes}.
     *
     * @param purpose what it is for, for the message
     * @throws OutOfMemoryException if the device has no memory left
     */
    public Lease require(long bytes, String purpose) {
        Lease lease = take(bytes);
        if (lease == null) {
            throw outOfMemory(bytes, purpose);
        }
        return lease;
    }

    /** The exception for a request that {@link #take} could not satisfy. */
    public OutOfMemoryException outOfMemory(long bytes, String purpose) {
        long[] free = {0};
        long[] total = {0};
        JCudaDriver.cuMemGetInfo(free, total);
        return new OutOfMemoryException(
                device.asDevice(),
                bytes,
                purpose + "; " + free[0] + " of " + total[0] + " bytes are free, " + usedBytes()
                        + " are in use by tensors of this process, which holds " + heldBytes() + " in all",
                "use a smaller batch or more ranks, and see with nvidia-smi who else uses the device",
                null);
    }

    /** A block of at least {@code bytes}; null if the device is out of memory. */
    public synchronized @Nullable Lease take(long bytes) {
        device.makeCurrent();
        if (shelf == common) {
            collect();
        }
        int size = SizeClass.of(bytes);
        DeviceMemory block = shelf.poll(size);
        if (block == null) {
            block = allocate(POOLED ? SizeClass.bytesOf(size) : Math.max(1, bytes));
        }
        if (block == null && shelf == common) {
            trim();
            block = allocate(POOLED ? SizeClass.bytesOf(size) : Math.max(1, bytes));
        }
        for (int i = 0; block == null && shelf == common && i < COLLECTOR_WAITS; i++) {
            // Unreachable tensors hold memory until the garbage collector finds them.
            System.gc();
            pause();
            collect();
            trim();
            block = allocate(POOLED ? SizeClass.bytesOf(size) : Math.max(1, bytes));
        }
        if (block == null) {
            return null;
        }
        usedBytes += block.bytes();
        if (POISON) {
            poison(block);
        }
        return new Lease(this, block, shelf, size);
    }

    @Override
    public synchronized void give(Lease lease) {
        device.makeCurrent();
        DeviceMemory block = lease.memory();
        lease.awaitOtherStreams(stream);
        usedBytes -= block.bytes();
        if (POISON) {
            poison(block);
        }
        if (POOLED) {
            (lease.shelf().isDissolved() ? common : lease.shelf()).push(lease.sizeClass(), block);
        } else {
            free(block);
        }
    }

    @Override
    public void giveLater(Lease lease) {
        unreachable.add(lease);
    }

    private void collect() {
        for (Lease lease = unreachable.poll(); lease != null; lease = unreachable.poll()) {
            give(lease);
        }
    }

    /**
     * Returns the free blocks to the driver, once the device is idle: freeing memory synchronizes the device, and with a
     * collective in flight that waits for another rank of this process, that rank could not enqueue its own.
     */
    public synchronized void trim() {
        device.makeCurrent();
        if (!common.isEmpty()) {
            awaitIdle.run();
            common.takeAll().forEach(this::free);
        }
    }

    /** From now on takes blocks from this shelf, to which they are returned; from the common shelf if null. */
    public synchronized void use(@Nullable Shelf own) {
        shelf = own == null ? common : own;
    }

    /** Moves the blocks of a shelf to the common shelf. */
    public synchronized void dissolve(Shelf own) {
        own.dissolve();
        for (DeviceMemory block : own.takeAll()) {
            common.push(SizeClass.of(block.bytes()), block);
        }
    }

    private @Nullable DeviceMemory allocate(long bytes) {
        DeviceMemory block = new DeviceMemory();
        driverCalls++;
        int result = JCudaDriver.cuMemAlloc(block, bytes);
        if (result == CUresult.CUDA_ERROR_OUT_OF_MEMORY) {
            return null;
        }
        Cuda.check(result, "cuMemAlloc of " + bytes + " bytes");
        block.setBytes(bytes);
        held.add(block);
        heldBytes += bytes;
        return block;
    }

    private void free(DeviceMemory block) {
        driverCalls++;
        held.remove(block);
        heldBytes -= block.bytes();
        Cuda.check(JCudaDriver.cuMemFree(block), "cuMemFree");
    }

    private void poison(DeviceMemory block) {
        Cuda.check(JCudaDriver.cuMemsetD8Async(block, NAN, block.bytes(), stream.stream()), "cuMemsetD8Async");
    }

    private static void pause() {
        try {
            Thread.sleep(COLLECTOR_WAIT_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Bytes in use. */
    public synchronized long usedBytes() {
        return usedBytes;
    }

    /** Bytes allocated from the driver, in use or kept for reuse. */
    public synchronized long heldBytes() {
        return heldBytes;
    }

    /** Driver calls that allocated or freed memory; constant while a warm training step runs. */
    public synchronized long driverCalls() {
        return driverCalls;
    }

    /** Returns all memory to the driver, used or not. */
    public synchronized void release() {
        device.makeCurrent();
        for (DeviceMemory block : held) {
            JCudaDriver.cuMemFree(block);
        }
        held.clear();
        common.takeAll();
    }
}
