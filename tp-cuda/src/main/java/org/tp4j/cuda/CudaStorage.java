package org.tp4j.cuda;

import java.lang.ref.Cleaner;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Storage;

/** A tensor's memory on a GPU. What no scope owns and nobody can reach is given back by the garbage collector. */
final class CudaStorage extends Storage {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Lease lease;
    private final Cleaner.Cleanable unreachable;

    CudaStorage(DType dtype, long size, Lease lease) {
        super(dtype, size);
        this.lease = lease;
        this.unreachable = CLEANER.register(this, lease::endLater);
    }

    Lease lease() {
        return lease;
    }

    DeviceMemory memory() {
        return lease.memory();
    }

    @Override
    protected void free() {
        lease.end();
        unreachable.clean();
    }
}
