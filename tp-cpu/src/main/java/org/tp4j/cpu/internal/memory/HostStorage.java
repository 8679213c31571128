package org.tp4j.cpu.internal.memory;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Storage;

/**
 * Memory of the CPU backend: one Java array, which may be longer than {@link #size()} because it comes from a pool.
 *
 * <table>
 * <caption>Array by element type</caption>
 * <tr><th>type</th><th>array</th></tr>
 * <tr><td>FLOAT32</td><td>{@code float[]}</td></tr>
 * <tr><td>FLOAT64</td><td>{@code double[]}</td></tr>
 * <tr><td>BFLOAT16, FLOAT16</td><td>{@code short[]}, bit patterns</td></tr>
 * <tr><td>INT32</td><td>{@code int[]}</td></tr>
 * <tr><td>INT64</td><td>{@code long[]}</td></tr>
 * <tr><td>BOOL</td><td>{@code byte[]}, 0 or 1</td></tr>
 * </table>
 *
 * <p>The accessors give the live array, not a copy; element i of an {@link org.tp4j.tensor.NdArray} is at its
 * {@code offset() + i}.
 */
public final class HostStorage extends Storage {
    private final ArrayPool pool;
    private @Nullable Object array;

    public HostStorage(ArrayPool pool, DType dtype, long size, Object array) {
        super(dtype, size);
        this.pool = pool;
        this.array = array;
    }

    /** The array of a {@code FLOAT32} storage. */
    public float[] floats() {
        return (float[]) array();
    }

    /** The array of a {@code FLOAT64} storage. */
    public double[] doubles() {
        return (double[]) array();
    }

    /** The array of a {@code BFLOAT16} or {@code FLOAT16} storage. */
    public short[] shorts() {
        return (short[]) array();
    }

    /** The array of an {@code INT32} storage. */
    public int[] ints() {
        return (int[]) array();
    }

    /** The array of an {@code INT64} storage. */
    public long[] longs() {
        return (long[]) array();
    }

    /** The array of a {@code BOOL} storage. */
    public byte[] booleans() {
        return (byte[]) array();
    }

    /**
     * The array, of the type that goes with {@link #dtype()}.
     *
     * @throws IllegalStateException if the memory has been freed
     */
    public Object array() {
        Object live = array;
        if (live == null) {
            checkLive();
            throw new IllegalStateException("memory is being freed");
        }
        return live;
    }

    @Override
    protected void free() {
        Object returned = array;
        array = null;
        if (returned != null) {
            pool.give(dtype(), returned);
        }
    }
}
