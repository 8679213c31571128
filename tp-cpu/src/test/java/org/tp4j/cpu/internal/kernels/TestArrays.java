package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.stream.Stream;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.memory.ArrayPool;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.cpu.internal.scalar.ScalarFloatKernels;
import org.tp4j.cpu.internal.vector.VectorFloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Makes and compares arrays. */
public final class TestArrays {
    private TestArrays() {}

    /** Normal numbers times 2, in a window that begins {@code offset} elements into its storage. */
    public static NdArray random(DType dtype, Random random, int offset, Shape shape) {
        NdArray array = window(dtype, offset, shape);
        ElementAccess cells = ElementAccess.of(array);
        for (long i = 0; i < shape.elements(); i++) {
            switch (dtype) {
                case INT32, INT64 -> cells.setLong(i, random.nextInt(2001) - 1000);
                case BOOL -> cells.set(i, random.nextInt(2));
                default -> cells.set(i, 2 * random.nextGaussian());
            }
        }
        return array;
    }

    /** The float loops to test: scalar and, where the module is present, vector. */
    public static Stream<FloatKernels> floatKernels() {
        Stream.Builder<FloatKernels> all = Stream.builder();
        all.add(new ScalarFloatKernels());
        if (ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent()) {
            all.add(VectorFloatKernels.atOnce());
        }
        return all.build();
    }

    /** A pool that fills what it hands out with NaN. */
    static ArrayPool poisonedPool() {
        return new ArrayPool(1L << 30, true);
    }

    /** Given numbers, in a window that begins {@code offset} elements into its storage. */
    public static NdArray of(DType dtype, int offset, Shape shape, double... values) {
        NdArray array = window(dtype, offset, shape);
        ElementAccess cells = ElementAccess.of(array);
        for (int i = 0; i < shape.elements(); i++) {
            cells.set(i, values[i % values.length]);
        }
        return array;
    }

    /** An array of one number. */
    static NdArray filled(DType dtype, Shape shape, double value) {
        return of(dtype, 0, shape, value);
    }

    /** New memory of the same shape, type and offset, with the same content. */
    static NdArray copyOf(NdArray array) {
        NdArray copy = window(array.dtype(), (int) array.offset(), array.shape());
        ElementAccess from = ElementAccess.of(array);
        ElementAccess to = ElementAccess.of(copy);
        for (long i = 0; i < array.elements(); i++) {
            if (array.dtype().isFloating()) {
                to.set(i, from.get(i));
            } else {
                to.setLong(i, from.getLong(i));
            }
        }
        return copy;
    }

    /** A window with undefined content that begins {@code offset} elements into its storage. */
    public static NdArray window(DType dtype, int offset, Shape shape) {
        CpuBackend backend = CpuBackend.get();
        return new NdArray(backend, backend.allocate(dtype, shape.elements() + offset), offset, shape);
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

    /** Differences of this size never count: FloatKernels may take 0 for it, or it is the smallest subnormal. */
    private static double floor(DType dtype) {
        return switch (dtype) {
            case FLOAT32, BFLOAT16 -> 1e-36;
            case FLOAT16 -> 0x1p-24;
            default -> 0x1p-1022;
        };
    }

    /** The two arrays may differ by so many epsilons of each element's magnitude, or of 1 if {@code absolute}. */
    private static void assertClose(NdArray actual, NdArray expected, double epsilons, boolean absolute) {
        assertThat(actual.dtype()).isEqualTo(expected.dtype());
        assertThat(actual.elements()).isEqualTo(expected.elements());
        ElementAccess got = ElementAccess.of(actual);
        ElementAccess wanted = ElementAccess.of(expected);
        DType dtype = actual.dtype();
        for (long i = 0; i < actual.elements(); i++) {
            if (!dtype.isFloating()) {
                assertThat(got.getLong(i)).as("element %d", i).isEqualTo(wanted.getLong(i));
                continue;
            }
            double a = got.get(i);
            double e = wanted.get(i);
            double scale = absolute ? Math.max(1, Math.abs(e)) : Math.abs(e);
            double allowed = epsilons * Math.max(scale * epsilon(dtype), floor(dtype));
            boolean same = Double.isNaN(e) ? Double.isNaN(a) : a == e || Math.abs(a - e) <= allowed;
            if (!same) {
                throw new AssertionError("element " + i + " of " + actual + " is " + a + ", expected " + e
                        + ", difference " + (a - e) + ", allowed " + allowed);
            }
        }
    }

    /** Checks that arrays agree to so many epsilons of the larger of 1 and the element; NaN with NaN. */
    static void assertClose(NdArray actual, NdArray expected, double epsilons) {
        assertClose(actual, expected, epsilons, true);
    }

    /** Checks that arrays agree to so many epsilons of each element; NaN with NaN. */
    public static void assertRelativelyClose(NdArray actual, NdArray expected, double epsilons) {
        assertClose(actual, expected, epsilons, false);
    }
}
