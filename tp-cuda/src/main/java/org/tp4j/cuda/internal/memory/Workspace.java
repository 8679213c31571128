package org.tp4j.cuda.internal.memory;

import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.DeviceMemory;
import org.tp4j.cuda.internal.driver.DeviceStream;

/**
 * Device memory for the kernels of one call. It is returned to the pool as soon as they are enqueued: its next owner's work
 * comes later on the same stream.
 */
public final class Workspace implements AutoCloseable {
    private final Lease lease;

    /** @throws org.tp4j.tensor.OutOfMemoryException if the device has no memory left */
    public Workspace(MemoryPool pool, long bytes) {
        this.lease = pool.require(bytes, "a kernel's workspace");
    }

    /** Its address. */
    public long address() {
        return lease.memory().address();
    }

    /** A pointer to its first byte. */
    public DeviceMemory memory() {
        return lease.memory();
    }

    /** Fills its first bytes with zeros. */
    public void clear(DeviceStream stream, long bytes) {
        Cuda.check(JCudaDriver.cuMemsetD8Async(memory(), (byte) 0, bytes, stream.stream()), "cuMemsetD8Async");
    }

    @Override
    public void close() {
        lease.end();
    }
}
