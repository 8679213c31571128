package org.tp4j.cuda;

import jcuda.driver.JCudaDriver;
import org.tp4j.tensor.TpException;

/**
 * Device memory that kernels of one call use between them. It goes back to the pool when the call has asked for them all:
 * whoever gets it next comes later on the same stream.
 */
final class Workspace implements AutoCloseable {
    private final Lease lease;

    /**
     * @param bytes how much
     * @throws TpException if there is not as much
     */
    Workspace(MemoryPool pool, long bytes) {
        Lease taken = pool.take(bytes);
        if (taken == null) {
            throw new TpException("out of memory: asked for " + bytes + " bytes that a kernel works with, "
                    + pool.usedBytes() + " bytes are in use by tensors of this process, " + pool.heldBytes()
                    + " held by it in all; HINT: use a smaller batch or more ranks, and see with nvidia-smi who else"
                    + " uses the device");
        }
        this.lease = taken;
    }

    /** Its address. */
    long address() {
        return lease.memory().address();
    }

    DeviceMemory memory() {
        return lease.memory();
    }

    /** Fills its first bytes with zeros. */
    void clear(CudaStream stream, long bytes) {
        Cuda.check(JCudaDriver.cuMemsetD8Async(memory(), (byte) 0, bytes, stream.stream()), "cuMemsetD8Async");
    }

    @Override
    public void close() {
        lease.end();
    }
}
