package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * The same array on the CPU, which is the oracle, and on the device under test. On the device it begins some elements into
 * its memory, as windows do, and ends where the memory ends.
 *
 * @param cpu on the CPU
 * @param cuda on the device
 */
record Twin(NdArray cpu, NdArray cuda) {
    /** Given numbers, again and again. */
    static Twin of(DType dtype, int offset, Shape shape, double... values) {
        double[] all = new double[offset + (int) shape.elements()];
        for (int i = offset; i < all.length; i++) {
            all[i] = values[(i - offset) % values.length];
        }
        return new Twin(
                array(OnCuda.cpu(), dtype, offset, shape, all), array(OnCuda.device(), dtype, offset, shape, all));
    }

    private static NdArray array(Backend backend, DType dtype, int offset, Shape shape, double[] all) {
        return OnCuda.of(backend, dtype, Shape.of(all.length), all).window(offset, shape);
    }

    /** Normal numbers times 2, integers from -1000 to 1000. */
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

    /** Where a result goes: its content is a number no kernel gives, and NaN around it would show. */
    static Twin result(DType dtype, int offset, Shape shape) {
        return of(dtype, offset, shape, dtype == DType.BOOL ? 1 : 77);
    }

    Shape shape() {
        return cpu.shape();
    }

    DType dtype() {
        return cpu.dtype();
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

    /** Both agree to so many epsilons of the larger of {@code scale} and the element; NaN with NaN, integers exactly. */
    void assertClose(double epsilons, double scale) {
        double[] got = OnCuda.values(cuda);
        double[] wanted = OnCuda.values(cpu);
        assertThat(got).hasSameSizeAs(wanted);
        for (int i = 0; i < got.length; i++) {
            double e = wanted[i];
            double allowed = epsilons * Math.max(Math.max(scale, Math.abs(e)) * epsilon(dtype()), floor(dtype()));
            if (!(Double.isNaN(e) ? Double.isNaN(got[i]) : got[i] == e || Math.abs(got[i] - e) <= allowed)) {
                throw new AssertionError("element " + i + " of " + cuda + " is " + got[i] + ", the CPU has " + e
                        + ", difference " + (got[i] - e) + ", allowed " + allowed);
            }
        }
    }

    /** Both agree to so many epsilons of the larger of 1 and the element. */
    void assertClose(double epsilons) {
        assertClose(epsilons, 1);
    }
}
