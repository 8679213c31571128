package org.tp4j.cuda.internal.launch;

import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.TpException;

/** A compiled kernel of a device. It runs on the device's compute stream unless another one is given. */
public final class Kernel {
    private static final long MOST_BLOCKS = Integer.MAX_VALUE;
    private static final int SHARED_WITHOUT_ASKING = 48 * 1024;

    private final CudaDevice device;
    private final DeviceStream stream;
    private final CUfunction function;
    private final String name;
    private int sharedBytes = SHARED_WITHOUT_ASKING;

    Kernel(CudaDevice device, DeviceStream stream, CUfunction function, String name) {
        this.device = device;
        this.stream = stream;
        this.function = function;
        this.name = name;
    }

    /** The device it runs on. */
    CudaDevice device() {
        return device;
    }

    /** Launches {@code blocks} blocks of {@code threads} threads; does not wait. */
    public void launch(long blocks, int threads, Arguments arguments) {
        launch(blocks, 1, threads, 0, arguments);
    }

    /** Launches {@code blocks} blocks of {@code threads} threads on a stream; does not wait. */
    public void launchOn(DeviceStream other, long blocks, int threads, Arguments arguments) {
        launchOn(other, blocks, 1, threads, 0, arguments);
    }

    /**
     * Launches a grid of blocks of threads; does not wait. Launches nothing if there are no blocks.
     *
     * @param dynamicShared bytes of dynamic shared memory per block
     */
    public void launch(long blocksX, int blocksY, int threads, int dynamicShared, Arguments arguments) {
        launchOn(stream, blocksX, blocksY, threads, dynamicShared, arguments);
    }

    private void launchOn(
            DeviceStream on, long blocksX, int blocksY, int threads, int dynamicShared, Arguments arguments) {
        if (blocksX == 0 || blocksY == 0) {
            return;
        }
        if (blocksX > MOST_BLOCKS) {
            throw new TpException(
                    "kernel " + name + " would need " + blocksX + " blocks, more than CUDA launches at once");
        }
        device.makeCurrent();
        if (dynamicShared > sharedBytes) {
            allowShared(dynamicShared);
        }
        int result = JCudaDriver.cuLaunchKernel(
                function,
                (int) blocksX,
                blocksY,
                1,
                threads,
                1,
                1,
                dynamicShared,
                on.stream(),
                arguments.pointer(),
                null);
        Cuda.check(result, name);
        on.note(StreamTrace.Kind.KERNEL, name);
    }

    private synchronized void allowShared(int bytes) {
        Cuda.check(
                JCudaDriver.cuFuncSetAttribute(
                        function, CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes),
                name + " with " + bytes + " bytes of shared memory per block");
        sharedBytes = bytes;
    }
}
