package org.tp4j.cpu.internal.memory;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.tp4j.tensor.DType;

/** The kinds of Java arrays that hold elements, and what is done to an array whatever it holds. */
public enum ArrayKind {
    /** {@code float[]}. */
    FLOATS,
    /** {@code double[]}. */
    DOUBLES,
    /** {@code short[]}, for the bits of 16-bit floats. */
    SHORTS,
    /** {@code int[]}. */
    INTS,
    /** {@code long[]}. */
    LONGS,
    /** {@code byte[]}. */
    BYTES;

    private static final byte POISONED_BYTE = 0x55;
    private static final short POISONED_SHORT = 0x7fff; // a NaN of either 16-bit float

    /** The kind for elements of a type. */
    public static ArrayKind of(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> FLOATS;
            case FLOAT64 -> DOUBLES;
            case BFLOAT16, FLOAT16 -> SHORTS;
            case INT32 -> INTS;
            case INT64 -> LONGS;
            case BOOL -> BYTES;
        };
    }

    /** A new array. */
    public Object allocate(int length) {
        return switch (this) {
            case FLOATS -> new float[length];
            case DOUBLES -> new double[length];
            case SHORTS -> new short[length];
            case INTS -> new int[length];
            case LONGS -> new long[length];
            case BYTES -> new byte[length];
        };
    }

    /** Copies n elements from the buffer's position on, which stays where it is. */
    public void read(ByteBuffer from, Object array, int at, int n) {
        switch (this) {
            case FLOATS -> from.asFloatBuffer().get((float[]) array, at, n);
            case DOUBLES -> from.asDoubleBuffer().get((double[]) array, at, n);
            case SHORTS -> from.asShortBuffer().get((short[]) array, at, n);
            case INTS -> from.asIntBuffer().get((int[]) array, at, n);
            case LONGS -> from.asLongBuffer().get((long[]) array, at, n);
            case BYTES -> from.duplicate().get((byte[]) array, at, n);
        }
    }

    /** Copies n elements to the buffer's position on, which stays where it is. */
    public void write(Object array, int at, int n, ByteBuffer to) {
        switch (this) {
            case FLOATS -> to.asFloatBuffer().put((float[]) array, at, n);
            case DOUBLES -> to.asDoubleBuffer().put((double[]) array, at, n);
            case SHORTS -> to.asShortBuffer().put((short[]) array, at, n);
            case INTS -> to.asIntBuffer().put((int[]) array, at, n);
            case LONGS -> to.asLongBuffer().put((long[]) array, at, n);
            case BYTES -> to.duplicate().put((byte[]) array, at, n);
        }
    }

    /** Repeats the element at {@code from} up to {@code to}, exclusive. */
    public void repeat(Object array, int from, int to) {
        switch (this) {
            case FLOATS -> Arrays.fill((float[]) array, from, to, ((float[]) array)[from]);
            case DOUBLES -> Arrays.fill((double[]) array, from, to, ((double[]) array)[from]);
            case SHORTS -> Arrays.fill((short[]) array, from, to, ((short[]) array)[from]);
            case INTS -> Arrays.fill((int[]) array, from, to, ((int[]) array)[from]);
            case LONGS -> Arrays.fill((long[]) array, from, to, ((long[]) array)[from]);
            case BYTES -> Arrays.fill((byte[]) array, from, to, ((byte[]) array)[from]);
        }
    }

    /** Fills an array with values that stand out if it is read before it is written, or after it was freed. */
    void poison(Object array) {
        switch (this) {
            case FLOATS -> Arrays.fill((float[]) array, Float.NaN);
            case DOUBLES -> Arrays.fill((double[]) array, Double.NaN);
            case SHORTS -> Arrays.fill((short[]) array, POISONED_SHORT);
            case INTS -> Arrays.fill((int[]) array, Integer.MIN_VALUE + 0xbad);
            case LONGS -> Arrays.fill((long[]) array, Long.MIN_VALUE + 0xbad);
            case BYTES -> Arrays.fill((byte[]) array, POISONED_BYTE);
        }
    }

    /** Elements that an array has room for. */
    static int length(Object array) {
        if (array instanceof float[] floats) {
            return floats.length; // reflection is slow, and most arrays are floats
        }
        return java.lang.reflect.Array.getLength(array);
    }

    /** Bytes of an array. */
    static long bytes(Object array) {
        if (array instanceof float[] floats) {
            return 4L * floats.length;
        } else if (array instanceof double[] doubles) {
            return 8L * doubles.length;
        } else if (array instanceof short[] shorts) {
            return 2L * shorts.length;
        } else if (array instanceof int[] ints) {
            return 4L * ints.length;
        } else if (array instanceof long[] longs) {
            return 8L * longs.length;
        } else {
            return ((byte[]) array).length;
        }
    }
}
