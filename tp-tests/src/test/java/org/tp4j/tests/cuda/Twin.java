package org.tp4j.tests.cuda;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Storage;
import org.tp4j.tensor.internal.math.HalfFloats;

/**
 * The same array on the CPU, which is the oracle, and on the device under test. One that begins some elements into its
 * memory, as windows do, has elements behind it too, and comparing looks at these as well: a kernel that writes outside is
 * found. Any other ends where its memory ends, so that the simulator finds a kernel that reads outside.
 *
 * @param cpu on the CPU
 * @param cuda on the device
 */
record Twin(NdArray cpu, NdArray cuda) {
    private static final int BEHIND = 19; // elements, more than 16 bytes of any type

    /** Given numbers, again and again. */
    static Twin of(DType dtype, int offset, Shape shape, double... values) {
        int size = (int) shape.elements() + offset + (offset > 0 ? BEHIND : 0);
        ByteBuffer bytes = ByteBuffer.allocate(size * dtype.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < size; i++) {
            put(bytes, dtype, values[Math.floorMod(i - offset, values.length)]);
        }
        bytes.flip();
        return new Twin(
                window(OnCuda.cpu(), dtype, offset, shape, bytes),
                window(OnCuda.device(), dtype, offset, shape, bytes));
    }

    private static NdArray window(Backend backend, DType dtype, int offset, Shape shape, ByteBuffer bytes) {
        Storage storage = backend.allocate(dtype, bytes.remaining() / dtype.bytes());
        backend.copyIn(bytes.duplicate(), new NdArray(backend, storage, 0, Shape.of(storage.size())));
        return new NdArray(backend, storage, offset, shape);
    }

    /** Normal numbers times 2, integers from -1000 to 1000, truth values. */
    static Twin random(DType dtype, Random random, int offset, Shape shape) {
        double[] values = new double[Math.max(1, (int) shape.elements())];
        for (int i = 0; i < values.length; i++) {
            values[i] = switch (dtype) {
                case INT32, INT64 -> random.nextInt(2001) - 1000;
                case BOOL -> random.nextInt(2);
                default -> 2 * random.nextGaussian();
            };
        }
        return of(dtype, offset, shape, values);
    }

    /** Where a result goes: its content is a number no kernel gives. */
    static Twin result(DType dtype, int offset, Shape shape) {
        return of(dtype, offset, shape, dtype == DType.BOOL ? 1 : 77);
    }

    /** The same content in memory of its own. */
    Twin copy() {
        return new Twin(copyOf(cpu), copyOf(cuda));
    }

    private static NdArray copyOf(NdArray array) {
        Storage copy = OnCuda.to(array.backend(), whole(array)).storage();
        return new NdArray(array.backend(), copy, array.offset(), array.shape());
    }

    /** Gives the device what the CPU has. */
    void send() {
        cuda.backend().copyIn(bytes(cpu), cuda);
    }

    Shape shape() {
        return cpu.shape();
    }

    DType dtype() {
        return cpu.dtype();
    }

    /** Both are the same bit for bit; one NaN is as good as another. */
    void assertSame(String what) {
        assertClose(what, 0, 0);
    }

    /** Both agree to so many epsilons of each element. */
    void assertRelativelyClose(String what, double epsilons) {
        assertClose(what, epsilons, 0);
    }

    /** Both agree to so many epsilons of the larger of 1 and the element. */
    void assertClose(String what, double epsilons) {
        assertClose(what, epsilons, 1);
    }

    /** Both agree to so many epsilons of the larger of 1 and the element. */
    void assertClose(double epsilons) {
        assertClose("result", epsilons, 1);
    }

    /** Both agree to so many epsilons of the larger of {@code scale} and the element. */
    void assertClose(double epsilons, double scale) {
        assertClose("result", epsilons, scale);
    }

    /** As above; NaN with NaN, integers exactly, and what lies around the array exactly too. */
    void assertClose(String what, double epsilons, double scale) {
        DType dtype = dtype();
        ByteBuffer expected = bytes(whole(cpu));
        ByteBuffer actual = bytes(whole(cuda));
        int size = (int) cpu.storage().size();
        for (int i = 0; i < size; i++) {
            int at = i - (int) cpu.offset();
            boolean same;
            if (dtype.isFloating()) {
                double e = number(expected, dtype, i);
                double a = number(actual, dtype, i);
                double allowed = at < 0 || at >= cpu.elements()
                        ? 0
                        : epsilons * Math.max(Math.max(scale, Math.abs(e)) * epsilon(dtype), floor(dtype));
                same = Double.compare(e, a) == 0 || allowed > 0 && (e == a || Math.abs(a - e) <= allowed);
            } else {
                same = wholeNumber(actual, dtype, i) == wholeNumber(expected, dtype, i);
            }
            if (!same) {
                throw new AssertionError(what + ": element " + at + " of " + cuda + " is " + number(actual, dtype, i)
                        + ", on the CPU " + number(expected, dtype, i) + ", difference "
                        + (number(actual, dtype, i) - number(expected, dtype, i)));
            }
        }
    }

    private static NdArray whole(NdArray array) {
        Storage storage = array.storage();
        return new NdArray(array.backend(), storage, 0, Shape.of(storage.size()));
    }

    private static ByteBuffer bytes(NdArray array) {
        ByteBuffer bytes = ByteBuffer.allocate(
                        (int) (array.elements() * array.dtype().bytes()))
                .order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, bytes);
        return bytes.rewind();
    }

    private static void put(ByteBuffer bytes, DType dtype, double value) {
        switch (dtype) {
            case FLOAT32 -> bytes.putFloat((float) value);
            case FLOAT64 -> bytes.putDouble(value);
            case BFLOAT16 -> bytes.putShort(HalfFloats.floatToBfloat16((float) value));
            case FLOAT16 -> bytes.putShort(HalfFloats.floatToFloat16((float) value));
            case INT32 -> bytes.putInt((int) value);
            case INT64 -> bytes.putLong((long) value);
            case BOOL -> bytes.put((byte) (value != 0 ? 1 : 0));
        }
    }

    private static double number(ByteBuffer bytes, DType dtype, int i) {
        return switch (dtype) {
            case FLOAT32 -> bytes.getFloat(4 * i);
            case FLOAT64 -> bytes.getDouble(8 * i);
            case BFLOAT16 -> HalfFloats.bfloat16ToFloat(bytes.getShort(2 * i));
            case FLOAT16 -> HalfFloats.float16ToFloat(bytes.getShort(2 * i));
            default -> wholeNumber(bytes, dtype, i);
        };
    }

    private static long wholeNumber(ByteBuffer bytes, DType dtype, int i) {
        return switch (dtype) {
            case INT32 -> bytes.getInt(4 * i);
            case INT64 -> bytes.getLong(8 * i);
            default -> bytes.get(i);
        };
    }

    /** The distance between 1 and the next number of a type. */
    static double epsilon(DType dtype) {
        return switch (dtype) {
            case FLOAT32 -> 0x1p-23;
            case FLOAT64 -> 0x1p-52;
            case BFLOAT16 -> 0x1p-7;
            case FLOAT16 -> 0x1p-10;
            default -> 0;
        };
    }

    /** Magnitudes of this size and below count as 0: what flushes to it differs. */
    private static double floor(DType dtype) {
        return switch (dtype) {
            case FLOAT32, BFLOAT16 -> 1e-36;
            case FLOAT16 -> 0x1p-24;
            default -> 0x1p-1022;
        };
    }
}
