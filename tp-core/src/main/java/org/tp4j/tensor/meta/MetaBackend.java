package org.tp4j.tensor.meta;

import java.nio.ByteBuffer;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.TpException;

/**
 * A backend of shapes without values: arrays take no memory and kernels do nothing. A model of any size can be built,
 * placed and run forward and backward on it, to see shapes, layouts and communication on a laptop before a GPU is rented.
 *
 * <pre>{@code
 * Tensor x = Tensors.zeros(MetaBackend.get(), DType.BFLOAT16, Shape.of(8192, 8192));
 * x.matmul(x).shape(); // [8192, 8192], at once
 * }</pre>
 *
 * <p>Reading a value ({@code item()}, {@code toFloats()}) throws. Scopes count the bytes that arrays would take.
 */
public final class MetaBackend implements Backend {
    private static final MetaBackend INSTANCE = new MetaBackend();

    private final Device device = new Device("meta", 0);
    private final ElementwiseKernels elementwise = MetaKernels.of(ElementwiseKernels.class);
    private final ReductionKernels reduction = MetaKernels.of(ReductionKernels.class);
    private final GemmKernels gemm = MetaKernels.of(GemmKernels.class);
    private final NormKernels norm = MetaKernels.of(NormKernels.class);
    private final LossKernels loss = MetaKernels.of(LossKernels.class);
    private final RandomKernels random = MetaKernels.of(RandomKernels.class);
    private final OptimizerKernels optimizer = MetaKernels.of(OptimizerKernels.class);

    private MetaBackend() {}

    /** The only one. */
    public static MetaBackend get() {
        return INSTANCE;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public boolean holdsValues() {
        return false;
    }

    @Override
    public Storage allocate(DType dtype, long elements) {
        Storage storage = new SizedStorage(dtype, elements);
        Scope scope = ExecutionContext.current().scope();
        if (scope != null) {
            scope.own(storage);
        }
        return storage;
    }

    @Override
    public void copyOut(NdArray from, ByteBuffer to) {
        throw new TpException("the values of " + from + " were asked for, but arrays on device '" + device
                + "' have shapes only; HINT: run on a device that computes, such as cpu");
    }

    @Override
    public void copyIn(ByteBuffer from, NdArray to) {
        from.position(from.limit());
    }

    @Override
    public void synchronize() {
        // nothing is asynchronous here
    }

    @Override
    public ElementwiseKernels elementwise() {
        return elementwise;
    }

    @Override
    public ReductionKernels reduction() {
        return reduction;
    }

    @Override
    public GemmKernels gemm() {
        return gemm;
    }

    @Override
    public NormKernels norm() {
        return norm;
    }

    @Override
    public LossKernels loss() {
        return loss;
    }

    @Override
    public RandomKernels random() {
        return random;
    }

    @Override
    public OptimizerKernels optimizer() {
        return optimizer;
    }

    /** A block with a size but no memory. */
    private static final class SizedStorage extends Storage {
        SizedStorage(DType dtype, long size) {
            super(dtype, size);
        }

        @Override
        protected void free() {
            // nothing was taken
        }
    }
}
