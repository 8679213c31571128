package org.tp4j.cuda.internal.launch;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.tensor.DType;

/** One kernel for each element type, compiled when first used. */
public final class KernelFamily {
    private final Kernels kernels;
    private final String file;
    private final String name;
    private final AtomicReferenceArray<Kernel> byType = new AtomicReferenceArray<>(DType.values().length);

    /**
     * Kernels of a source file.
     *
     * @param file source file without {@code .cu}
     * @param name the function
     */
    public KernelFamily(Kernels kernels, String file, String name) {
        this.kernels = kernels;
        this.file = file;
        this.name = name;
    }

    /** The kernel whose {@code SCALAR} is this type. */
    public Kernel of(DType type) {
        Kernel kernel = byType.get(type.ordinal());
        if (kernel == null) {
            kernel = kernels.get(file, type, name);
            byType.set(type.ordinal(), kernel);
        }
        return kernel;
    }

    /** The device the kernels run on. */
    CudaDevice device() {
        return kernels.device();
    }
}
