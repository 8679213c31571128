package org.tp4j.cuda;

import org.tp4j.cuda.internal.memory.MemoryHold;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.tensor.NdArray;

/**
 * An array's memory, held for a use on another stream that is enqueued later: the memory is not reused until then, even if
 * the scope that owns the array is closed meanwhile.
 */
public final class HeldMemory implements AutoCloseable {
    private final MemoryHold hold;

    HeldMemory(NdArray array) {
        this.hold = new MemoryHold(array);
    }

    /** The address of the array's first element in device memory. */
    public long address() {
        return hold.address();
    }

    /** Declares that another stream uses the memory until {@code event}; see {@link CudaBackend#usedOn}. */
    public void usedOn(CudaEvent event) {
        hold.addUse(event);
    }

    /** Ends the hold. Idempotent. */
    @Override
    public void close() {
        hold.close();
    }
}
