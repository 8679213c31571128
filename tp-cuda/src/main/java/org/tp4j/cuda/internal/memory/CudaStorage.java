package org.tp4j.cuda.internal.memory;

import java.lang.ref.Cleaner;
import org.tp4j.cuda.internal.driver.DeviceMemory;
import org.tp4j.cuda.stream.CudaEvent;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Storage;

/** A tensor's memory on a GPU. The garbage collector frees it if no scope owns it and it becomes unreachable. */
public final class CudaStorage extends Storage {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Lease lease;
    private final Cleaner.Cleanable unreachable;

    /** A storage that owns the lease. */
    public CudaStorage(DType dtype, long size, Lease lease) {
        super(dtype, size);
        this.lease = lease;
        this.unreachable = CLEANER.register(this, lease::endLater);
    }

    private static CudaStorage of(NdArray array) {
        return (CudaStorage) array.storage();
    }

    /** The address of an array's first element. */
    public static long addressOf(NdArray array) {
        return of(array).memory().address() + array.offset() * array.dtype().bytes();
    }

    /** A pointer to an array's first element. */
    public static DeviceMemory pointerTo(NdArray array) {
        return pointerTo(array, 0);
    }

    /** A pointer to the element {@code elements} after an array's first. */
    public static DeviceMemory pointerTo(NdArray array, long elements) {
        return of(array).memory().at((array.offset() + elements) * array.dtype().bytes());
    }

    /** Another stream uses an array's memory until the event; see {@link Lease#addUse}. */
    public static void addUse(NdArray array, CudaEvent until) {
        of(array).lease.addUse(until);
    }

    static Lease leaseOf(NdArray array) {
        return of(array).lease;
    }

    private DeviceMemory memory() {
        return lease.memory();
    }

    @Override
    protected void free() {
        lease.end();
        unreachable.clean();
    }
}
