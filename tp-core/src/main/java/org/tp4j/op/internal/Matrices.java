package org.tp4j.op.internal;

import org.jspecify.annotations.Nullable;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Sizes of matrix products. */
final class Matrices {
    private Matrices() {}

    /** A size as an int, as BLAS takes it. */
    static int size(long n) {
        if (n > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("a matrix dimension of " + n + " exceeds 2^31 - 1");
        }
        return (int) n;
    }

    /** Product of all sizes but the last. */
    static int rows(NdArray array) {
        Shape shape = array.shape();
        return size(shape.product(0, shape.dims() - 1));
    }

    /** The last size. */
    static int columns(NdArray array) {
        return size(array.shape().size(-1));
    }

    /**
     * The type in which ranks hold the terms of a product over a sharded dimension: 32 bits for {@code FLOAT16}, whose range
     * the terms may leave though their sum does not. Terms in {@code BFLOAT16} cost a rounding each and half the bytes.
     */
    static DType termType(DType result, @Nullable DType requested) {
        return requested != null ? requested : result == DType.FLOAT16 ? DType.FLOAT32 : result;
    }

    static void checkFloating(String operation, TensorSpec a, TensorSpec b) {
        if (a.dtype() != b.dtype() || !a.dtype().isFloating()) {
            throw new IllegalArgumentException(
                    operation + " needs two float tensors of one type, found " + a + " and " + b + "; HINT: cast one");
        }
    }
}
