package org.tp4j.cuda.internal.launch;

import java.util.HashMap;
import java.util.Map;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.compile.KernelImages;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.tensor.DType;

/**
 * The kernels of one device. Each source file is loaded once per element type, at its first use, with the macro {@code SCALAR}
 * naming the type.
 */
public final class Kernels {
    private final CudaDevice device;
    private final DeviceStream stream;
    private final KernelImages images;
    private final Map<String, CUmodule> modules = new HashMap<>();

    /** @param stream the stream on which they are enqueued */
    public Kernels(CudaDevice device, DeviceStream stream, KernelImages images) {
        this.device = device;
        this.stream = stream;
        this.images = images;
    }

    /** The device's properties, for choosing grids. */
    public CudaDevice device() {
        return device;
    }

    /**
     * A kernel.
     *
     * @param file source file without {@code .cu}
     * @param scalar the element type it is compiled for
     * @param name its function
     */
    synchronized Kernel get(String file, DType scalar, String name) {
        device.makeCurrent();
        CUmodule module = modules.computeIfAbsent(file + " " + scalar, key -> load(file, scalar));
        CUfunction function = new CUfunction();
        Cuda.check(JCudaDriver.cuModuleGetFunction(function, module, name), "kernel " + name + " of " + file + ".cu");
        return new Kernel(device, stream, function, name);
    }

    private CUmodule load(String file, DType scalar) {
        CUmodule module = new CUmodule();
        Cuda.check(JCudaDriver.cuModuleLoadData(module, images.get(file, scalar)), "cuModuleLoadData of " + file);
        return module;
    }

    public synchronized void release() {
        device.makeCurrent();
        modules.values().forEach(JCudaDriver::cuModuleUnload);
        modules.clear();
    }
}
