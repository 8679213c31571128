package org.tp4j.op.internal;

import java.util.List;
import org.tp4j.op.LabelRule;
import org.tp4j.op.TensorSpec;
import org.tp4j.tensor.Shape;

/**
 * The dimensions of a reduction, and whether they stay with size 1.
 *
 * @param keepDims whether they stay
 * @param dims the dimensions, counted from the front, in ascending order
 */
public record ReducedDims(boolean keepDims, List<Integer> dims) {
    /** Dimensions of {@code shape} in any order and sign; none given means all. */
    public static ReducedDims of(Shape shape, boolean keepDims, int... dims) {
        if (dims.length == 0) {
            return new ReducedDims(
                    keepDims,
                    java.util.stream.IntStream.range(0, shape.dims()).boxed().toList());
        }
        List<Integer> sorted = java.util.Arrays.stream(dims)
                .map(shape::normalize)
                .sorted()
                .boxed()
                .toList();
        if (sorted.stream().distinct().count() != sorted.size()) {
            throw new IllegalArgumentException(
                    "a dimension is named twice in " + java.util.Arrays.toString(dims) + " for shape " + shape);
        }
        return new ReducedDims(keepDims, sorted);
    }

    /** The result's shape. */
    Shape shape(Shape in) {
        if (keepDims) {
            return kept(in);
        }
        long[] sizes = new long[in.dims() - dims.size()];
        int n = 0;
        for (int d = 0; d < in.dims(); d++) {
            if (!dims.contains(d)) {
                sizes[n++] = in.size(d);
            }
        }
        return Shape.of(sizes);
    }

    /** The result's shape with the reduced dimensions as 1. */
    Shape kept(Shape in) {
        long[] sizes = in.toArray();
        for (int d : dims) {
            sizes[d] = 1;
        }
        return Shape.of(sizes);
    }

    /** The dimensions that the result lacks. */
    List<Integer> removed() {
        return keepDims ? List.of() : dims;
    }

    /** How many elements are reduced to one. */
    public long count(Shape in) {
        long n = 1;
        for (int d : dims) {
            n *= in.size(d);
        }
        return n;
    }

    boolean[] mask(Shape in) {
        boolean[] mask = new boolean[in.dims()];
        for (int d : dims) {
            mask[d] = true;
        }
        return mask;
    }

    LabelRule.Builder rule(TensorSpec[] in) {
        int n = in[0].dims();
        int[] labels = new int[keepDims ? n : n - dims.size()];
        int at = 0;
        for (int d = 0; d < n; d++) {
            if (!dims.contains(d)) {
                labels[at++] = d;
            } else if (keepDims) {
                labels[at++] = n + d; // a dimension of size 1 that is new
            }
        }
        return LabelRule.of(in).input(0, LabelRule.ascending(0, n)).output(labels);
    }
}
