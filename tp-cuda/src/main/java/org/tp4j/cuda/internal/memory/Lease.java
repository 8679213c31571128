package org.tp4j.cuda.internal.memory;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.cuda.internal.driver.DeviceEvent;
import org.tp4j.cuda.internal.driver.DeviceMemory;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.stream.CudaEvent;

/** A block of a {@link MemoryPool} while it has an owner, and which other streams still use it. */
public final class Lease {
    private final Lender lender;
    private final DeviceMemory memory;
    private final Shelf shelf;
    private final int sizeClass;
    private boolean over; // guarded by this
    private @Nullable List<Use> uses; // guarded by this
    private int holds; // guarded by this

    /** Where blocks come from. */
    interface Lender {
        /** Takes the block back. */
        void give(Lease lease);

        /** Takes the block back on its next call; for the garbage collector's thread. */
        void giveLater(Lease lease);
    }

    /** A use by another stream, up to the point that the event marked at the time. */
    private record Use(DeviceEvent event, long mark) {
        /** An event that now marks another point has been closed, so the compute stream already waits for this use. */
        boolean isPast() {
            return event.mark() != mark;
        }
    }

    Lease(Lender lender, DeviceMemory memory, Shelf shelf, int sizeClass) {
        this.lender = lender;
        this.memory = memory;
        this.shelf = shelf;
        this.sizeClass = sizeClass;
    }

    /** The block. */
    public DeviceMemory memory() {
        return memory;
    }

    Shelf shelf() {
        return shelf;
    }

    int sizeClass() {
        return sizeClass;
    }

    /**
     * Another stream uses the block until the event, which supersedes that stream's earlier events. The event may be closed
     * only when its point has been passed or the pool's stream already waits for it.
     */
    public synchronized void addUse(CudaEvent until) {
        DeviceEvent event = (DeviceEvent) until;
        if (uses == null) {
            uses = new ArrayList<>(1);
        }
        uses.removeIf(earlier -> earlier.isPast() || earlier.event().isOnStreamOf(event));
        uses.add(new Use(event, event.mark()));
    }

    /** Work enqueued on {@code stream} from now on comes after the other streams' uses. */
    synchronized void awaitOtherStreams(DeviceStream stream) {
        if (uses != null) {
            for (Use use : uses) {
                if (!use.isPast() && !use.event().isDone()) {
                    stream.waitFor(use.event());
                }
            }
            uses = null;
        }
    }

    /** Holds the block back from the pool, for a use that has no event yet; {@link #release} undoes it. */
    synchronized void hold() {
        holds++;
    }

    /** Undoes a {@link #hold}; the block returns to the pool on its next call if the owner has ended the lease. */
    void release() {
        boolean free;
        synchronized (this) {
            holds--;
            free = over && holds == 0;
        }
        if (free) {
            lender.giveLater(this);
        }
    }

    /** Returns the block to the pool, or leaves that to the last holder; idempotent. */
    public void end() {
        if (endsNow()) {
            lender.give(this);
        }
    }

    /** Returns the block on the pool's next call; idempotent. For the garbage collector's thread. */
    void endLater() {
        if (endsNow()) {
            lender.giveLater(this);
        }
    }

    private synchronized boolean endsNow() {
        boolean first = !over;
        over = true;
        return first && holds == 0;
    }
}
