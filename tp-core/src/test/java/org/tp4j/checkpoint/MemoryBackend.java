package org.tp4j.checkpoint;

import java.nio.ByteBuffer;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.RandomKernels;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Storage;

/** A device that only holds bytes: all that reading and writing files asks of one. */
final class MemoryBackend implements Backend {
    private static final class Bytes extends Storage {
        private final byte[] bytes;

        Bytes(DType dtype, long elements) {
            super(dtype, elements);
            this.bytes = new byte[Math.toIntExact(elements * dtype.bytes())];
        }

        @Override
        protected void free() {}
    }

    private int copies;

    NdArray array(DType dtype, Shape shape, byte... content) {
        NdArray result = NdArray.allocate(this, dtype, shape);
        System.arraycopy(content, 0, ((Bytes) result.storage()).bytes, 0, content.length);
        return result;
    }

    /** The bytes of a window. */
    static byte[] bytes(NdArray array) {
        int size = array.dtype().bytes();
        byte[] result = new byte[(int) array.elements() * size];
        System.arraycopy(((Bytes) array.storage()).bytes, (int) array.offset() * size, result, 0, result.length);
        return result;
    }

    /** How often something was copied to the device. */
    int copies() {
        return copies;
    }

    @Override
    public Device device() {
        return Device.CPU;
    }

    @Override
    public Storage allocate(DType dtype, long elements) {
        return new Bytes(dtype, elements);
    }

    @Override
    public void copyOut(NdArray from, ByteBuffer to) {
        to.put(bytes(from));
    }

    @Override
    public void copyIn(ByteBuffer from, NdArray to) {
        copies++;
        int size = to.dtype().bytes();
        if (from.remaining() != to.elements() * size) {
            throw new IllegalArgumentException(from.remaining() + " bytes for " + to);
        }
        from.get(((Bytes) to.storage()).bytes, (int) to.offset() * size, from.remaining());
    }

    @Override
    public void synchronize() {}

    @Override
    public ElementwiseKernels elementwise() {
        throw new UnsupportedOperationException();
    }

    @Override
    public ReductionKernels reduction() {
        throw new UnsupportedOperationException();
    }

    @Override
    public GemmKernels gemm() {
        throw new UnsupportedOperationException();
    }

    @Override
    public NormKernels norm() {
        throw new UnsupportedOperationException();
    }

    @Override
    public LossKernels loss() {
        throw new UnsupportedOperationException();
    }

    @Override
    public RandomKernels random() {
        throw new UnsupportedOperationException();
    }

    @Override
    public OptimizerKernels optimizer() {
        throw new UnsupportedOperationException();
    }
}
