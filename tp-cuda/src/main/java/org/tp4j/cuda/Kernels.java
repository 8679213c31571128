package org.tp4j.cuda;

import java.util.HashMap;
import java.util.Map;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.JCudaDriver;
import org.tp4j.tensor.DType;

/**
 * The kernels of one device. Each source file is loaded once for every element type asked for, when it is first asked for,
 * with the macro {@code SCALAR} naming the type.
 */
final class Kernels {
    private final CudaDevice device;
    private final CudaStream stream;
    private final KernelImages images;
    private final Map<String, CUmodule> modules = new HashMap<>();

    Kernels(CudaDevice device, CudaStream stream) {
        this.device = device;
        this.stream = stream;
        this.images = KernelImages.forCapability(device.computeCapability());
    }

    /** The device's properties, for choosing grids. */
    CudaDevice device() {
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

    synchronized void release() {
        device.makeCurrent();
        modules.values().forEach(JCudaDriver::cuModuleUnload);
        modules.clear();
    }
}
