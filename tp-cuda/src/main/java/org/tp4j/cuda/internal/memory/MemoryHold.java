package org.tp4j.cuda.internal.memory;

import java.util.concurrent.atomic.AtomicBoolean;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.tensor.NdArray;

/** Holds an array's memory back from the pool until closed. */
public final class MemoryHold implements AutoCloseable {
    private final Lease lease;
    private final long address;
    private final AtomicBoolean closed = new AtomicBoolean();

    public MemoryHold(NdArray array) {
        this.address = CudaStorage.addressOf(array);
        this.lease = CudaStorage.leaseOf(array);
        lease.hold();
    }

    /** The address of the array's first element. */
    public long address() {
        return address;
    }

    /** See {@link Lease#addUse}. */
    public void addUse(CudaEvent until) {
        lease.addUse(until);
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            lease.release();
        }
    }
}
