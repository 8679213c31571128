package org.tp4j.cuda.internal.driver;

import jcuda.driver.CUdeviceptr;

/** A piece of device memory as allocated by the driver. */
public final class DeviceMemory extends CUdeviceptr {
    private long bytes;

    public DeviceMemory() {}

    /** A location within device memory. */
    private DeviceMemory(DeviceMemory base, long offset) {
        super(base, offset);
    }

    /** The address, as kernels and other libraries take it. */
    public long address() {
        return getNativePointer() + getByteOffset();
    }

    /** A pointer {@code offset} bytes further on. */
    public DeviceMemory at(long offset) {
        return offset == 0 ? this : new DeviceMemory(this, offset);
    }

    /** Its size; 0 for a location within. */
    public long bytes() {
        return bytes;
    }

    public void setBytes(long size) {
        this.bytes = size;
    }
}
