package org.tp4j.tests.comm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.tp4j.comm.ReduceOp;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.internal.math.HalfFloats;

/** Arrays of any type and device from doubles and back, and what the ranks of a check put into them. */
final class Values {
    private static final long GAP = 3; // elements before and after, to see who writes outside of a window

    private Values() {}

    /** Rank's element i: a small whole number that every type holds exactly, its sums and maxima over ranks too. */
    static double of(DType dtype, int rank, long i) {
        long value = (i * 7 + rank * 3L) % 5;
        return dtype == DType.BOOL ? value % 2 : 1 + value;
    }

    /** n elements of a rank, from its element {@code first} on. */
    static double[] of(DType dtype, int rank, long first, long n) {
        double[] values = new double[(int) n];
        Arrays.setAll(values, i -> of(dtype, rank, first + i));
        return values;
    }

    /** The values of ranks 0 to size - 1 at element i, joined, as the type rounds them. */
    static double joined(DType dtype, ReduceOp op, int size, long i) {
        double result = of(dtype, 0, i);
        for (int rank = 1; rank < size; rank++) {
            double next = of(dtype, rank, i);
            result = switch (op) {
                case SUM, AVG -> dtype == DType.BOOL ? Math.max(result, next) : result + next;
                case PRODUCT -> result * next;
                case MAX -> Math.max(result, next);
                case MIN -> Math.min(result, next);
            };
        }
        if (op == ReduceOp.AVG) {
            result = dtype == DType.FLOAT64 ? result / size : (float) result / size;
        }
        return round(dtype, result);
    }

    /** The nearest value of a type. */
    static double round(DType dtype, double value) {
        return switch (dtype) {
            case FLOAT32 -> (float) value;
            case BFLOAT16 -> HalfFloats.bfloat16ToFloat(HalfFloats.floatToBfloat16((float) value));
            case FLOAT16 -> HalfFloats.float16ToFloat(HalfFloats.floatToFloat16((float) value));
            default -> value;
        };
    }

    /** A window of the values amid elements that belong to nobody. */
    static NdArray array(Backend backend, DType dtype, double... values) {
        NdArray whole = NdArray.allocate(backend, dtype, Shape.of(values.length + 2 * GAP));
        double[] filler = new double[(int) (values.length + 2 * GAP)];
        Arrays.fill(filler, dtype == DType.BOOL ? 1 : 77);
        System.arraycopy(values, 0, filler, (int) GAP, values.length);
        write(whole, filler);
        return whole.window(GAP, Shape.of(values.length));
    }

    /** A window of n elements of a value that no check expects. */
    static NdArray blank(Backend backend, DType dtype, long n) {
        double[] values = new double[(int) n];
        Arrays.fill(values, dtype == DType.BOOL ? 1 : 99);
        return array(backend, dtype, values);
    }

    /** An array of ones, which asks nothing of the backend but memory and copies. */
    static NdArray ones(Backend backend, DType dtype, Shape shape) {
        NdArray array = NdArray.allocate(backend, dtype, shape);
        double[] values = new double[(int) shape.elements()];
        Arrays.fill(values, 1);
        write(array, values);
        return array;
    }

    static void write(NdArray array, double... values) {
        ByteBuffer buffer =
                ByteBuffer.allocateDirect(values.length * array.dtype().bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : values) {
            switch (array.dtype()) {
                case FLOAT32 -> buffer.putFloat((float) value);
                case FLOAT64 -> buffer.putDouble(value);
                case BFLOAT16 -> buffer.putShort(HalfFloats.floatToBfloat16((float) value));
                case FLOAT16 -> buffer.putShort(HalfFloats.floatToFloat16((float) value));
                case INT32 -> buffer.putInt((int) value);
                case INT64 -> buffer.putLong((long) value);
                case BOOL -> buffer.put((byte) value);
            }
        }
        array.backend().copyIn(buffer.rewind(), array);
    }

    static double[] read(NdArray array) {
        ByteBuffer buffer = bytes(array);
        double[] values = new double[(int) array.elements()];
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (array.dtype()) {
                case FLOAT32 -> buffer.getFloat();
                case FLOAT64 -> buffer.getDouble();
                case BFLOAT16 -> HalfFloats.bfloat16ToFloat(buffer.getShort());
                case FLOAT16 -> HalfFloats.float16ToFloat(buffer.getShort());
                case INT32 -> buffer.getInt();
                case INT64 -> buffer.getLong();
                case BOOL -> buffer.get();
            };
        }
        return values;
    }

    /** The raw content. */
    static ByteBuffer bytes(NdArray array) {
        ByteBuffer buffer = ByteBuffer.allocateDirect(
                        (int) array.elements() * array.dtype().bytes())
                .order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, buffer);
        return buffer.rewind();
    }

    /** Fails if the array holds anything else, or an element around the window has changed. */
    static void expect(String what, NdArray actual, double... expected) {
        double[] found = read(actual);
        if (found.length != expected.length) {
            throw new AssertionError(what + ": " + found.length + " elements instead of " + expected.length);
        }
        for (int i = 0; i < expected.length; i++) {
            if (Double.compare(found[i], expected[i]) != 0) {
                throw new AssertionError(what + ": element " + i + " of " + found.length + " is " + found[i]
                        + " instead of " + expected[i]);
            }
        }
        expectSurroundings(what, actual);
    }

    private static void expectSurroundings(String what, NdArray window) {
        if (window.offset() < GAP || window.storage().size() < window.offset() + window.elements() + GAP) {
            return;
        }
        double filler = window.dtype() == DType.BOOL ? 1 : 77;
        for (long at : new long[] {-GAP, window.elements()}) {
            for (double value : read(window.window(at, Shape.of(GAP)))) {
                if (value != filler) {
                    throw new AssertionError(what + ": an element outside of the array was written: " + value);
                }
            }
        }
    }

    static void same(String what, Object actual, Object expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError(what + ": " + actual + " instead of " + expected);
        }
    }
}
