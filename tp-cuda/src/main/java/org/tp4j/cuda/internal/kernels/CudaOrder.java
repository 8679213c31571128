package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.ElementwiseArguments.ORDER;

import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.Grid;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/**
 * Floats as integers that order the same way: -infinity, ..., -0, +0, ..., infinity, and NaN as the lowest or the highest.
 * 16-bit and 32-bit floats become 32-bit integers, 64-bit floats 64-bit ones.
 */
public final class CudaOrder {
    private final KernelFamily toOrder;
    private final KernelFamily fromOrder;
    private final Kernels kernels;

    public CudaOrder(Kernels kernels) {
        this.kernels = kernels;
        this.toOrder = new KernelFamily(kernels, "order", "toOrder");
        this.fromOrder = new KernelFamily(kernels, "order", "fromOrder");
    }

    /** The type of the integers for floats of a type. */
    public static DType bitsOf(DType dtype) {
        return dtype == DType.FLOAT64 ? DType.INT64 : DType.INT32;
    }

    /** bits = the integers of x, on a stream. */
    public void toOrder(NdArray x, NdArray bits, boolean nanIsLowest, DeviceStream stream) {
        launch(toOrder, x, bits, nanIsLowest, stream);
    }

    /** x = the floats of bits, on a stream. */
    public void fromOrder(NdArray bits, NdArray x, DeviceStream stream) {
        launch(fromOrder, x, bits, false, stream);
    }

    private void launch(KernelFamily family, NdArray x, NdArray bits, boolean nanIsLowest, DeviceStream stream) {
        long n = x.elements();
        Arguments arguments = Arguments.of(ORDER)
                .set(ORDER.x, x)
                .set(ORDER.bits, bits)
                .set(ORDER.n, n)
                .set(ORDER.nanIsLowest, nanIsLowest);
        family.of(x.dtype()).launchOn(stream, Grid.blocks(kernels.device(), n), Grid.THREADS, arguments);
    }
}
