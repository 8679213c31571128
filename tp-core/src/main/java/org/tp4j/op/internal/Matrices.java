package org.tp4j.op.internal;

import org.tp4j.op.TensorSpec;
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

    static void checkFloating(String operation, TensorSpec a, TensorSpec b) {
        if (a.dtype() != b.dtype() || !a.dtype().isFloating()) {
            throw new IllegalArgumentException(
                    operation + " needs two float tensors of one type, found " + a + " and " + b + "; HINT: cast one");
        }
    }
}
