package org.tp4j.cuda;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;

/**
 * A device's memory, kept between uses: after the first steps of a training loop nothing is asked of the driver any more.
 *
 * <p>All work on the memory is in the order of one stream, so a block that is given back may be handed out at once: whoever
 * gets it writes after the last use. What other streams still use is waited for before that (see {@link Lease}).
 *
 * <p>Blocks come in sizes of eight steps for each doubling, so that a freed one fits what is asked next. System properties,
 * read once: {@code tp4j.cuda.pool=false} asks the driver each time, which lets tools see where each array ends; {@code
 * tp4j.cuda.poison=true} fills memory with NaN when it is handed out and when it is given back.
 */
final class MemoryPool {
    private static final int SMALLEST_LOG2 = 9; // 512 bytes, and every block is aligned to as much
    private static final int STEPS_LOG2 = 3;
    private static final int CLASSES = (Long.SIZE - SMALLEST_LOG2) << STEPS_LOG2;
    private static final boolean POOLED = !"false".equals(System.getProperty("tp4j.cuda.pool"));
    private static final boolean POISON = Boolean.getBoolean("tp4j.cuda.poison");
    private static final byte NAN = (byte) 0xFF; // bytes of which every float type makes a NaN
    private static final int COLLECTOR_WAITS = 5;
    private static final long COLLECTOR_WAIT_MS = 40;

    /** Freed blocks by size, for whoever may use them. */
    static final class Shelf {
        private final List<@Nullable ArrayDeque<DeviceMemory>> bySize =
                new ArrayList<>(Collections.nCopies(CLASSES, null));
        private boolean dissolved;

        @Nullable DeviceMemory poll(int size) {
            ArrayDeque<DeviceMemory> blocks = bySize.get(size);
            return blocks == null ? null : blocks.poll();
        }

        void push(int size, DeviceMemory block) {
            ArrayDeque<DeviceMemory> blocks = bySize.get(size);
            if (blocks == null) {
                blocks = new ArrayDeque<>();
                bySize.set(size, blocks);
            }
            blocks.push(block);
        }

        List<DeviceMemory> takeAll() {
            List<DeviceMemory> all = new ArrayList<>();
            for (ArrayDeque<DeviceMemory> blocks : bySize) {
                if (blocks != null) {
                    all.addAll(blocks);
                    blocks.clear();
                }
            }
            return all;
        }
    }

    private final CudaDevice device;
    private final CudaStream stream;
    private final Shelf common = new Shelf();
    private final Set<DeviceMemory> held = Collections.newSetFromMap(new IdentityHashMap<>());
    private final ConcurrentLinkedQueue<Lease> unreachable = new ConcurrentLinkedQueue<>();
    private Shelf shelf = common;
    private long usedBytes;
    private long heldBytes;
    private long driverCalls;

    /** @param stream the stream all use of the memory is in the order of */
    MemoryPool(CudaDevice device, CudaStream stream) {
        this.device = device;
        this.stream = stream;
    }

    /** A block of at least {@code bytes}; null if there is none to be had. */
    synchronized @Nullable Lease take(long bytes) {
        device.makeCurrent();
        if (shelf == common) {
            collect();
        }
        int size = sizeClass(bytes);
        DeviceMemory block = shelf.poll(size);
        if (block == null) {
            block = allocate(POOLED ? bytesOf(size) : Math.max(1, bytes));
        }
        if (block == null && shelf == common) {
            trim();
            block = allocate(POOLED ? bytesOf(size) : Math.max(1, bytes));
        }
        for (int i = 0; block == null && shelf == common && i < COLLECTOR_WAITS; i++) {
            // Tensors that nobody can reach any more hold memory until the garbage collector says so.
            System.gc();
            pause();
            collect();
            trim();
            block = allocate(POOLED ? bytesOf(size) : Math.max(1, bytes));
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

    /** Takes a block back. */
    synchronized void give(Lease lease) {
        device.makeCurrent();
        DeviceMemory block = lease.memory();
        lease.awaitOtherStreams(stream);
        usedBytes -= block.bytes();
        if (POISON) {
            poison(block);
        }
        if (POOLED) {
            (lease.shelf().dissolved ? common : lease.shelf()).push(lease.sizeClass(), block);
        } else {
            free(block);
        }
    }

    /** Takes a block back that the garbage collector has found to be out of reach, some time later. */
    void giveLater(Lease lease) {
        unreachable.add(lease);
    }

    private void collect() {
        for (Lease lease = unreachable.poll(); lease != null; lease = unreachable.poll()) {
            give(lease);
        }
    }

    /** Gives the freed blocks back to the driver. */
    synchronized void trim() {
        device.makeCurrent();
        List<DeviceMemory> blocks = common.takeAll();
        if (!blocks.isEmpty()) {
            stream.synchronize();
            blocks.forEach(this::free);
        }
    }

    /** From now on blocks come from a shelf of somebody's own, and only go back to it; with null from the common one. */
    synchronized void use(@Nullable Shelf own) {
        shelf = own == null ? common : own;
    }

    /** Puts the blocks of a shelf that is no longer used among the common ones. */
    synchronized void dissolve(Shelf own) {
        own.dissolved = true;
        for (DeviceMemory block : own.takeAll()) {
            common.push(sizeClass(block.bytes()), block);
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

    /** The smallest size class that holds {@code bytes}. */
    static int sizeClass(long bytes) {
        long n = Math.max(bytes, 1L << SMALLEST_LOG2) - 1;
        int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(n);
        int step = (int) (n >>> (log2 - STEPS_LOG2)) & ((1 << STEPS_LOG2) - 1);
        return Math.max(0, ((log2 - SMALLEST_LOG2) << STEPS_LOG2) + step + 1);
    }

    /** What a block of a size class holds. */
    static long bytesOf(int sizeClass) {
        int log2 = SMALLEST_LOG2 + (sizeClass >> STEPS_LOG2);
        long step = sizeClass & ((1 << STEPS_LOG2) - 1);
        return (1L << log2) + (step << (log2 - STEPS_LOG2));
    }

    /** Bytes in use by storages. */
    synchronized long usedBytes() {
        return usedBytes;
    }

    /** Bytes held of the driver, in use or kept. */
    synchronized long heldBytes() {
        return heldBytes;
    }

    /** How often the driver was asked; constant while a warm training step runs. */
    synchronized long driverCalls() {
        return driverCalls;
    }

    /** Gives all memory back to the driver, used or not. */
    synchronized void release() {
        device.makeCurrent();
        for (DeviceMemory block : held) {
            JCudaDriver.cuMemFree(block);
        }
        held.clear();
        common.takeAll();
    }
}
