package org.tp4j.cuda;

import java.lang.ref.Cleaner;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Storage;

/** A tensor's memory on a GPU. */
final class CudaStorage extends Storage {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Lease lease;

    CudaStorage(DType dtype, long size, Lease lease) {
        super(dtype, size);
        this.lease = lease;
    }

    Lease lease() {
        return lease;
    }

    DeviceMemory memory() {
        return lease.memory();
    }

    @Override
    protected void leaveToCollector() {
        CLEANER.register(this, lease::endLater);
    }

    @Override
    protected void free() {
        lease.end();
    }
}
