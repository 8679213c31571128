package org.tp4j.cpu.internal.memory;

import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/**
 * A window of a {@code FLOAT32}, {@code BFLOAT16} or {@code FLOAT16} array as floats: the array itself where it holds
 * floats, otherwise pieces that are widened into scratch and narrowed back.
 *
 * <pre>{@code
 * float[] a = x.read(i, n, scratch);       // elements i to i + n, beginning at a[x.at(i)]
 * float[] b = out.target(otherScratch);    // where to write them, beginning at b[out.at(i)]
 * loop(a, x.at(i), b, out.at(i), n);
 * out.write(i, n, b);
 * }</pre>
 */
public final class FloatView {
    /** Elements of a piece: a few of them fit into the first-level cache. */
    public static final int PIECE = 1024;

    private final FloatKernels kernels;
    private final int offset;
    private final float @Nullable [] floats;
    private final short @Nullable [] shorts;
    private final DType dtype;

    public FloatView(FloatKernels kernels, NdArray array) {
        HostStorage storage = (HostStorage) array.storage();
        this.kernels = kernels;
        this.offset = (int) array.offset();
        this.dtype = array.dtype();
        this.floats = array.dtype() == DType.FLOAT32 ? storage.floats() : null;
        this.shorts = array.dtype() == DType.FLOAT32 ? null : storage.shorts();
    }

    /** Whether kernels of this type use a view. */
    public static boolean suits(DType dtype) {
        return dtype == DType.FLOAT32 || dtype.isHalf();
    }

    /** Whether pieces are the array itself, so that they may be of any length and scratch is not used. */
    public boolean isDirect() {
        return floats != null;
    }

    /** Index of element i in what {@link #read} and {@link #target} return for a piece that begins with it. */
    public int at(int i) {
        return floats != null ? offset + i : 0;
    }

    /** n elements from element {@code first}, as floats. */
    public float[] read(int first, int n, float[] scratch) {
        if (floats != null) {
            return floats;
        }
        short[] bits = halves();
        kernels.widen(dtype, bits, offset + first, scratch, 0, n);
        return scratch;
    }

    /** Where to write a piece. */
    public float[] target(float[] scratch) {
        return floats != null ? floats : scratch;
    }

    /** Stores a piece that was written to the array returned by {@link #target}. */
    public void write(int first, int n, float[] target) {
        if (floats != null) {
            return;
        }
        short[] bits = halves();
        kernels.narrow(dtype, target, 0, bits, offset + first, n);
    }

    /** One element. */
    public float get(int i) {
        return floats != null ? floats[offset + i] : read(i, 1, new float[1])[0];
    }

    private short[] halves() {
        if (shorts == null) {
            throw new IllegalStateException("a view of floats has no 16-bit elements");
        }
        return shorts;
    }
}
