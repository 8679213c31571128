package org.tp4j.autograd;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.tp4j.autograd.internal.Dispatch;
import org.tp4j.autograd.internal.EagerTensor;
import org.tp4j.op.Operation;
import org.tp4j.op.internal.ConcatOp;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Creates tensors, and runs custom operations.
 *
 * <pre>{@code
 * Tensor x = Tensors.of(backend, new float[] {1, 2}, 1, 2);
 * Tensor w = Tensors.normal(backend, DType.FLOAT32, Shape.of(2, 4), 0, 0.02, seed, stream).requiresGrad(true);
 * }</pre>
 */
public final class Tensors {
    private Tensors() {}

    /** A tensor that shares this array. */
    public static Tensor of(NdArray array) {
        return new EagerTensor(array);
    }

    /** A FLOAT32 tensor of the given elements, row-major. */
    public static Tensor of(Backend backend, float[] elements, long... sizes) {
        ByteBuffer bytes = buffer(4L * elements.length);
        bytes.asFloatBuffer().put(elements);
        return of(backend, DType.FLOAT32, bytes, elements.length, sizes);
    }

    /** A FLOAT64 tensor of the given elements, row-major. */
    public static Tensor of(Backend backend, double[] elements, long... sizes) {
        ByteBuffer bytes = buffer(8L * elements.length);
        bytes.asDoubleBuffer().put(elements);
        return of(backend, DType.FLOAT64, bytes, elements.length, sizes);
    }

    /** An INT64 tensor of the given elements, row-major. */
    public static Tensor of(Backend backend, long[] elements, long... sizes) {
        ByteBuffer bytes = buffer(8L * elements.length);
        bytes.asLongBuffer().put(elements);
        return of(backend, DType.INT64, bytes, elements.length, sizes);
    }

    /** An INT32 tensor of the given elements, row-major. */
    public static Tensor of(Backend backend, int[] elements, long... sizes) {
        ByteBuffer bytes = buffer(4L * elements.length);
        bytes.asIntBuffer().put(elements);
        return of(backend, DType.INT32, bytes, elements.length, sizes);
    }

    /** A BOOL tensor of the given elements, row-major. */
    public static Tensor of(Backend backend, boolean[] elements, long... sizes) {
        ByteBuffer bytes = buffer(elements.length);
        for (boolean element : elements) {
            bytes.put((byte) (element ? 1 : 0));
        }
        return of(backend, DType.BOOL, bytes.rewind(), elements.length, sizes);
    }

    private static ByteBuffer buffer(long bytes) {
        if (bytes > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("too many elements for one call: " + bytes + " bytes, at most 2^31 - 1");
        }
        return ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static Tensor of(Backend backend, DType dtype, ByteBuffer bytes, int elements, long... sizes) {
        Shape shape = Shape.of(sizes);
        if (shape.elements() != elements) {
            throw new IllegalArgumentException(
                    elements + " elements do not fill shape " + shape + ", which has " + shape.elements());
        }
        NdArray array = NdArray.allocate(backend, dtype, shape);
        backend.copyIn(bytes, array);
        return new EagerTensor(array);
    }

    /** All elements 0. */
    public static Tensor zeros(Backend backend, DType dtype, Shape shape) {
        return full(backend, dtype, shape, 0);
    }

    /** All elements 1. */
    public static Tensor ones(Backend backend, DType dtype, Shape shape) {
        return full(backend, dtype, shape, 1);
    }

    /** All elements {@code value}. */
    public static Tensor full(Backend backend, DType dtype, Shape shape, double value) {
        return new EagerTensor(NdArray.full(backend, dtype, shape, value));
    }

    /** Uniform random numbers in [low, high), the same for the same seed and stream on any backend. */
    public static Tensor uniform(
            Backend backend, DType dtype, Shape shape, double low, double high, long seed, long stream) {
        NdArray array = NdArray.allocate(backend, dtype, shape);
        backend.random().uniform(array, seed, stream, Region.whole(shape), low, high);
        return new EagerTensor(array);
    }

    /** Normal random numbers, the same for the same seed and stream on any backend (to 2 ulp). */
    public static Tensor normal(
            Backend backend, DType dtype, Shape shape, double mean, double deviation, long seed, long stream) {
        NdArray array = NdArray.allocate(backend, dtype, shape);
        backend.random().normal(array, seed, stream, Region.whole(shape), mean, deviation);
        return new EagerTensor(array);
    }

    /**
     * Tensors of one shape and type, one after another along a new dimension.
     *
     * @param dim number of the new dimension in the result
     */
    public static Tensor stack(int dim, Tensor... tensors) {
        Tensor[] pieces = new Tensor[tensors.length];
        for (int i = 0; i < pieces.length; i++) {
            pieces[i] = tensors[i].unsqueeze(dim);
        }
        return concat(dim, pieces);
    }

    /** Concatenates tensors along one dimension. */
    public static Tensor concat(int dim, Tensor... tensors) {
        if (tensors.length == 0) {
            throw new IllegalArgumentException("concat of no tensors");
        }
        return Dispatch.run(new ConcatOp(tensors[0].shape().normalize(dim)), tensors);
    }

    /** Runs an operation, such as a custom one; returns its first result. */
    public static Tensor apply(Operation operation, Tensor... in) {
        return Dispatch.run(operation, in);
    }

    /** Runs an operation; returns all its results, of which only the first can carry a gradient. */
    public static Tensor[] applyAll(Operation operation, Tensor... in) {
        return Dispatch.runAll(operation, in);
    }
}
