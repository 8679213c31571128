package org.tp4j.cuda;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A block of the {@link MemoryPool} while it is somebody's, and who else's streams still use it. */
final class Lease {
    private final MemoryPool pool;
    private final DeviceMemory memory;
    private final MemoryPool.Shelf shelf;
    private final int sizeClass;
    private final AtomicBoolean over = new AtomicBoolean();
    private @Nullable List<CudaEvent> uses; // guarded by this

    Lease(MemoryPool pool, DeviceMemory memory, MemoryPool.Shelf shelf, int sizeClass) {
        this.pool = pool;
        this.memory = memory;
        this.shelf = shelf;
        this.sizeClass = sizeClass;
    }

    DeviceMemory memory() {
        return memory;
    }

    MemoryPool.Shelf shelf() {
        return shelf;
    }

    int sizeClass() {
        return sizeClass;
    }

    /**
     * Another stream uses the block until the event; that stream's earlier events are then of no interest. An event that
     * has been recorded anew by the time it is waited for is a later point, which is safe.
     */
    synchronized void addUse(CudaEvent event) {
        if (uses == null) {
            uses = new ArrayList<>(1);
        }
        uses.removeIf(earlier -> earlier.stream() == event.stream());
        uses.add(event);
    }

    /** Whatever {@code stream} does next comes after the other streams' uses. */
    synchronized void awaitOtherStreams(CudaStream stream) {
        if (uses != null) {
            for (CudaEvent event : uses) {
                if (!event.isDone()) {
                    stream.waitFor(event);
                }
            }
            uses = null;
        }
    }

    /** Gives the block back, once. */
    void end() {
        if (over.compareAndSet(false, true)) {
            pool.give(this);
        }
    }

    /** Gives the block back when it suits the pool, once; for the thread of the garbage collector. */
    void endLater() {
        if (over.compareAndSet(false, true)) {
            pool.giveLater(this);
        }
    }
}
