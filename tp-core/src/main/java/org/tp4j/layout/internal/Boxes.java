package org.tp4j.layout.internal;

import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Copies of boxes between row-major arrays, and the pieces of an array along one dimension. */
public final class Boxes {
    private Boxes() {}

    /** Copies a box of {@code sizes} that begins at {@code from} in src to {@code to} in dst. */
    public static void copy(NdArray src, long[] from, NdArray dst, long[] to, Shape sizes) {
        if (sizes.elements() == 0) {
            return;
        }
        long[] srcStrides = src.shape().strides();
        long[] dstStrides = dst.shape().strides();
        long srcOffset = 0;
        long dstOffset = 0;
        for (int d = 0; d < srcStrides.length; d++) {
            srcOffset += from[d] * srcStrides[d];
            dstOffset += to[d] * dstStrides[d];
        }
        src.backend().elementwise().copy(src, srcOffset, srcStrides, dst, dstOffset, dstStrides, sizes.toArray());
    }

    /** Elements [begin, begin + count) along {@code dim}: a view if all outer dimensions have size 1, else a copy. */
    public static NdArray narrow(NdArray array, int dim, long begin, long count) {
        Shape shape = array.shape();
        if (begin == 0 && count == shape.size(dim)) {
            return array;
        }
        Shape to = shape.with(dim, count);
        if (shape.product(0, dim) <= 1) {
            return array.window(Math.min(begin * shape.product(dim + 1, shape.dims()), array.elements()), to);
        }
        NdArray result = NdArray.allocate(array.backend(), array.dtype(), to);
        long[] from = new long[shape.dims()];
        from[dim] = begin;
        copy(array.await(), from, result, new long[shape.dims()], to);
        return result;
    }

    /** Writes {@code piece} into {@code array} at {@code begin} along {@code dim}. */
    public static void insert(NdArray piece, NdArray array, int dim, long begin) {
        long[] to = new long[array.shape().dims()];
        to[dim] = begin;
        copy(piece, new long[to.length], array, to, piece.shape());
    }
}
