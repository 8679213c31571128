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
    private @Nullable List<Use> uses; // guarded by this

    /** A use by another stream, until the event's point of that time. */
    private record Use(CudaEvent event, long mark) {
        /** An event that marks another point by now was given back, so the compute stream has this one behind it. */
        boolean isPast() {
            return event.mark() != mark;
        }
    }

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
     * Another stream uses the block until the event; that stream's earlier events are then of no interest. Whoever owns the
     * event gives it back only when its point has been passed, or the stream of the pool waits for it already.
     */
    synchronized void addUse(CudaEvent event) {
        if (uses == null) {
            uses = new ArrayList<>(1);
        }
        uses.removeIf(earlier -> earlier.isPast() || earlier.event().stream() == event.stream());
        uses.add(new Use(event, event.mark()));
    }

    /** Whatever {@code stream} does next comes after the other streams' uses. */
    synchronized void awaitOtherStreams(CudaStream stream) {
        if (uses != null) {
            for (Use use : uses) {
                if (!use.isPast() && !use.event().isDone()) {
                    stream.waitFor(use.event());
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
