package org.tp4j.tensor;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.internal.math.ElementBits;

/**
 * A row-major, contiguous window onto a {@link Storage}: what kernels and collectives work on. It knows nothing of
 * gradients or ranks.
 *
 * <p>A window that is still being filled by a collective carries the {@link Pending} work; {@link #await()} waits for
 * it. Kernels are always given windows that have been awaited.
 */
public final class NdArray implements HasStorage {
    private final Backend backend;
    private final Storage storage;
    private final long offset;
    private final Shape shape;
    private @Nullable Pending pending;

    /** A window of {@code shape} that begins {@code offset} elements into {@code storage}. */
    public NdArray(Backend backend, Storage storage, long offset, Shape shape) {
        if (offset < 0 || offset > storage.size() - shape.elements()) { // a sum could overflow
            throw new IllegalArgumentException("a window of shape " + shape + " at offset " + offset
                    + " reaches past the " + storage.size() + " elements of its storage");
        }
        this.backend = backend;
        this.storage = storage;
        this.offset = offset;
        this.shape = shape;
    }

    /** New memory of the given shape, its content undefined, owned by the current scope. */
    public static NdArray allocate(Backend backend, DType dtype, Shape shape) {
        return new NdArray(backend, backend.allocate(dtype, shape.elements()), 0, shape);
    }

    /** New memory filled with one value, owned by the current scope. */
    public static NdArray full(Backend backend, DType dtype, Shape shape, double value) {
        NdArray result = allocate(backend, dtype, shape);
        backend.elementwise().fill(result, value);
        return result;
    }

    /** The backend that computes on this array. */
    public Backend backend() {
        return backend;
    }

    /** The memory that this is a window onto. */
    @Override
    public Storage storage() {
        return storage;
    }

    /** Where the window begins, in elements. */
    public long offset() {
        return offset;
    }

    /** Sizes of the window. */
    public Shape shape() {
        return shape;
    }

    /** Type of the elements. */
    public DType dtype() {
        return storage.dtype();
    }

    /** Number of elements. */
    public long elements() {
        return shape.elements();
    }

    /** The same elements under another shape of equally many elements, without a copy. */
    public NdArray reshape(Shape to) {
        if (to.equals(shape)) {
            return this;
        }
        if (to.elements() != shape.elements()) {
            throw new IllegalArgumentException("cannot view shape " + shape + " (" + shape.elements() + " elements) as "
                    + to + " (" + to.elements() + " elements)");
        }
        NdArray view = new NdArray(backend, storage, offset, to);
        view.pending = pending;
        return view;
    }

    /** A window of shape {@code to} that begins {@code elements} further on, without a copy. */
    public NdArray window(long elements, Shape to) {
        if (elements > storage.size() - offset) {
            throw new IllegalArgumentException("a window of shape " + to + " " + elements + " elements after offset "
                    + offset + " reaches past the " + storage.size() + " elements of its storage");
        }
        NdArray view = new NdArray(backend, storage, offset + elements, to);
        view.pending = pending;
        return view;
    }

    /** New memory with the same content. */
    public NdArray copy() {
        NdArray result = allocate(backend, dtype(), shape);
        result.assign(this);
        return result;
    }

    /** Overwrites this window with {@code from}, which has the same shape and type. */
    public void assign(NdArray from) {
        long[] n = {elements()};
        long[] one = {1};
        backend.elementwise().copy(from.await(), 0, one, await(), 0, one, n);
        storage.markChanged();
    }

    /** Sets the work that is still writing this window. */
    public NdArray setPending(Pending work) {
        this.pending = work;
        return this;
    }

    /** Waits for pending work on this window; returns this. */
    public NdArray await() {
        Pending work = pending;
        if (work != null) {
            work.await();
            pending = null;
        }
        storage.checkLive();
        return this;
    }

    /** The elements, row-major, as doubles; waits for the device. */
    public double[] toDoubles() {
        ByteBuffer bytes = bytes();
        double[] result = new double[(int) elements()];
        for (int i = 0; i < result.length; i++) {
            result[i] = dtype().decode(ElementBits.get(bytes, dtype().bytes()));
        }
        return result;
    }

    /** As {@link #toDoubles()}, as floats. */
    public float[] toFloats() {
        float[] result = new float[Math.toIntExact(elements())];
        if (dtype() == DType.FLOAT32) {
            bytes().asFloatBuffer().get(result);
        } else {
            double[] wide = toDoubles();
            for (int i = 0; i < result.length; i++) {
                result[i] = (float) wide[i];
            }
        }
        return result;
    }

    /**
     * As {@link #toDoubles()}, as integers.
     *
     * @throws IllegalStateException if the type is floating
     */
    public long[] toLongs() {
        if (dtype().isFloating()) {
            throw new IllegalStateException(
                    "toLongs() of a tensor of type " + dtype() + "; HINT: cast it to int64 first");
        }
        ByteBuffer bytes = bytes();
        long[] result = new long[(int) elements()];
        for (int i = 0; i < result.length; i++) {
            result[i] = ElementBits.get(bytes, dtype().bytes());
        }
        return result;
    }

    private ByteBuffer bytes() {
        long bytes = elements() * dtype().bytes();
        if (bytes > Integer.MAX_VALUE) {
            throw new IllegalStateException("a tensor of " + bytes + " bytes does not fit a Java array");
        }
        ByteBuffer buffer = ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
        backend.copyOut(await(), buffer);
        return buffer.rewind();
    }

    @Override
    public String toString() {
        return dtype() + shape.toString() + "@" + backend.device();
    }
}
