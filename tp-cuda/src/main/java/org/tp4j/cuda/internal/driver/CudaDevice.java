package org.tp4j.cuda.internal.driver;

import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdevice_attribute;
import jcuda.driver.JCudaDriver;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.TpException;

/** One GPU: its primary context, which the process's other CUDA libraries share, and its properties. */
public final class CudaDevice {
    /** The device whose context this class last made current on a thread. */
    private static final ThreadLocal<@Nullable CudaDevice> CURRENT = new ThreadLocal<>();

    /** Threads that have made its context current and may use it at any time. */
    private final Set<Thread> users = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    private final int index;
    private final CUdevice device = new CUdevice();
    private final CUcontext context = new CUcontext();
    private final String name;
    private final int computeCapability;
    private final int multiprocessors;
    private final int sharedBytesABlock;

    /**
     * Retains the primary context of a device.
     *
     * @param index which of the driver's devices, from 0
     * @param count how many devices the driver sees
     */
    public CudaDevice(int index, int count) {
        if (index >= count) {
            throw new TpException("device cuda:" + index + " was requested, but the driver sees " + count
                    + (count == 1 ? " device" : " devices") + " (cuda:0" + (count == 1 ? "" : " to cuda:" + (count - 1))
                    + "); HINT: start at most " + count + (count == 1 ? " rank" : " ranks")
                    + " per machine, and see what CUDA_VISIBLE_DEVICES says");
        }
        this.index = index;
        Cuda.check(JCudaDriver.cuInit(0), "cuInit");
        Cuda.check(JCudaDriver.cuDeviceGet(device, index), "cuDeviceGet");
        Cuda.check(JCudaDriver.cuDevicePrimaryCtxRetain(context, device), "cuDevicePrimaryCtxRetain");
        byte[] text = new byte[256];
        Cuda.check(JCudaDriver.cuDeviceGetName(text, text.length, device), "cuDeviceGetName");
        this.name = zeroTerminated(text);
        this.computeCapability = 10 * attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
                + attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
        this.multiprocessors = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        this.sharedBytesABlock = attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    }

    private static String zeroTerminated(byte[] text) {
        int n = 0;
        while (n < text.length && text[n] != 0) {
            n++;
        }
        return new String(text, 0, n, java.nio.charset.StandardCharsets.US_ASCII);
    }

    private int attribute(int which) {
        int[] value = {0};
        Cuda.check(JCudaDriver.cuDeviceGetAttribute(value, which, device), "cuDeviceGetAttribute");
        return value[0];
    }

    /** Makes its context current on this thread. */
    public void makeCurrent() {
        if (CURRENT.get() != this) {
            forceCurrent();
        }
    }

    /** The same, even if another library has since made another context current. */
    public void forceCurrent() {
        Cuda.check(JCudaDriver.cuCtxSetCurrent(context), "cuCtxSetCurrent");
        if (CURRENT.get() != this) {
            CURRENT.set(this);
            users.add(Thread.currentThread());
        }
    }

    /** Whether a thread other than the current one may still use the device: it is alive and is not ending the process. */
    public boolean hasUsers() {
        List<Thread> all;
        synchronized (users) {
            all = List.copyOf(users);
        }
        return all.stream()
                .anyMatch(thread -> thread != Thread.currentThread() && thread.isAlive() && !isExiting(thread));
    }

    private static boolean isExiting(Thread thread) {
        for (StackTraceElement frame : thread.getStackTrace()) {
            if (frame.getClassName().equals("java.lang.Runtime")
                    && frame.getMethodName().equals("exit")) {
                return true;
            }
        }
        return false;
    }

    /** The device as tensors name it. */
    public Device asDevice() {
        return new Device("cuda", index);
    }

    /** The device's index among the driver's devices. */
    public int index() {
        return index;
    }

    /** The vendor's name for it. */
    public String name() {
        return name;
    }

    /** Compute capability: major version times ten plus minor version, such as 90. */
    public int computeCapability() {
        return computeCapability;
    }

    /** The number of multiprocessors. */
    public int multiprocessors() {
        return multiprocessors;
    }

    /** The maximum shared memory per block, in bytes. */
    int sharedBytesABlock() {
        return sharedBytesABlock;
    }

    /** Releases its context. The device must not be used afterwards. */
    public void release() {
        CURRENT.remove();
        JCudaDriver.cuDevicePrimaryCtxRelease(device);
    }
}
