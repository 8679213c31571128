package org.tp4j.tests.oracle;

import java.util.Random;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * A whole tensor as plain Java: what one rank alone would hold.
 *
 * @param dtype FLOAT64, INT64 or BOOL
 * @param elements row-major; truth values as 0 and 1
 */
public record Whole(DType dtype, Shape shape, double[] elements) {
    /** A float64 tensor. */
    public static Whole of(Shape shape, double... elements) {
        return new Whole(DType.FLOAT64, shape, elements);
    }

    /** Multiples of 1/8 in [-4, 4], so that sums of a few are exact in any order. */
    public static Whole exact(Shape shape, Random random) {
        double[] elements = new double[Math.toIntExact(shape.elements())];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = (random.nextInt(65) - 32) / 8.0;
        }
        return of(shape, elements);
    }

    /** What a plain tensor holds. */
    public static Whole of(Tensor plain) {
        return new Whole(plain.dtype(), plain.shape(), plain.toDoubles());
    }

    /** A plain tensor of these elements. */
    public Tensor toTensor(Backend backend) {
        return tensor(backend, dtype, elements, shape);
    }

    /** A plain tensor of the given type. */
    public static Tensor tensor(Backend backend, DType dtype, double[] elements, Shape shape) {
        return switch (dtype) {
            case FLOAT64 -> Tensors.of(backend, elements, shape.toArray());
            case FLOAT32 -> {
                float[] narrow = new float[elements.length];
                for (int i = 0; i < narrow.length; i++) {
                    narrow[i] = (float) elements[i];
                }
                yield Tensors.of(backend, narrow, shape.toArray());
            }
            case INT64 -> {
                long[] integers = new long[elements.length];
                for (int i = 0; i < integers.length; i++) {
                    integers[i] = (long) elements[i];
                }
                yield Tensors.of(backend, integers, shape.toArray());
            }
            case BOOL -> {
                boolean[] truths = new boolean[elements.length];
                for (int i = 0; i < truths.length; i++) {
                    truths[i] = elements[i] != 0;
                }
                yield Tensors.of(backend, truths, shape.toArray());
            }
            default -> throw new IllegalArgumentException("no oracle values of type " + dtype);
        };
    }
}
