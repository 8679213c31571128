package org.tp4j.tensor;

import java.util.Arrays;

/**
 * Sizes of a tensor's dimensions, outermost first; row-major and contiguous. Immutable.
 *
 * <p>A shape without dimensions belongs to a scalar of one element; any size may be 0.
 */
public final class Shape {
    private static final Shape SCALAR = new Shape(new long[0]);

    private final long[] sizes;
    private final long elements;
    private final int hash;

    private Shape(long[] sizes) {
        this.sizes = sizes;
        long product = 1;
        for (long size : sizes) {
            if (size < 0) {
                throw new IllegalArgumentException("negative size in shape " + Arrays.toString(sizes));
            }
            try {
                product = Math.multiplyExact(product, size);
            } catch (ArithmeticException e) {
                throw new IllegalArgumentException(
                        "shape " + Arrays.toString(sizes) + " has more than 2^63 - 1 elements", e);
            }
        }
        this.elements = product;
        this.hash = Arrays.hashCode(sizes);
    }

    /**
     * A shape of the given sizes.
     *
     * @throws IllegalArgumentException if a size is negative or the product exceeds 2^63 - 1
     */
    public static Shape of(long... sizes) {
        return sizes.length == 0 ? SCALAR : new Shape(sizes.clone());
    }

    /** The shape of a scalar: no dimensions, one element. */
    public static Shape scalar() {
        return SCALAR;
    }

    /** Number of dimensions. */
    public int dims() {
        return sizes.length;
    }

    /** Number of elements, the product of all sizes. */
    public long elements() {
        return elements;
    }

    /**
     * Size of one dimension.
     *
     * @param dim 0 to dims - 1, or negative to count from the last
     * @throws IllegalArgumentException if the shape has no such dimension
     */
    public long size(int dim) {
        return sizes[normalize(dim)];
    }

    /** A copy of the sizes. */
    public long[] toArray() {
        return sizes.clone();
    }

    /**
     * The dimension counted from the front.
     *
     * @param dim -dims to dims - 1
     * @throws IllegalArgumentException naming the dimension and the number of dimensions if it is out of range
     */
    public int normalize(int dim) {
        int n = sizes.length;
        if (dim < -n || dim >= n) {
            throw new IllegalArgumentException("dimension " + dim + " is out of range for shape " + this + " with " + n
                    + " dimensions" + (n == 0 ? "" : ": allowed are " + -n + " to " + (n - 1)));
        }
        return dim < 0 ? dim + n : dim;
    }

    /** This shape with one size replaced; {@code dim} may be negative. */
    public Shape with(int dim, long size) {
        long[] copy = sizes.clone();
        copy[normalize(dim)] = size;
        return new Shape(copy);
    }

    /** This shape without dimension {@code dim}, which may be negative. */
    public Shape without(int dim) {
        int at = normalize(dim);
        long[] rest = new long[sizes.length - 1];
        System.arraycopy(sizes, 0, rest, 0, at);
        System.arraycopy(sizes, at + 1, rest, at, rest.length - at);
        return of(rest);
    }

    /** Row-major strides in elements: the last dimension has stride 1. */
    public long[] strides() {
        long[] strides = new long[sizes.length];
        long stride = 1;
        for (int i = sizes.length - 1; i >= 0; i--) {
            strides[i] = stride;
            stride *= Math.max(1, sizes[i]);
        }
        return strides;
    }

    /** Product of the sizes from dimension {@code from} (inclusive) to {@code to} (exclusive). */
    public long product(int from, int to) {
        long product = 1;
        for (int i = from; i < to; i++) {
            product *= sizes[i];
        }
        return product;
    }

    /**
     * The shape both broadcast to: aligned at the last dimension, a size of 1 stretches.
     *
     * @throws IllegalArgumentException naming both shapes if two sizes differ and neither is 1
     */
    public Shape broadcast(Shape other) {
        if (equals(other)) {
            return this;
        }
        int n = Math.max(dims(), other.dims());
        long[] result = new long[n];
        for (int i = 0; i < n; i++) {
            long a = i < n - dims() ? 1 : sizes[i - (n - dims())];
            long b = i < n - other.dims() ? 1 : other.sizes[i - (n - other.dims())];
            if (a != b && a != 1 && b != 1) {
                throw new IllegalArgumentException("shapes " + this + " and " + other + " do not broadcast: dimension "
                        + (i - n) + " has sizes " + a + " and " + b + "; HINT: sizes must be equal, or one of them 1");
            }
            result[i] = a == 1 ? b : a;
        }
        return of(result);
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof Shape that && hash == that.hash && Arrays.equals(sizes, that.sizes);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** The sizes in brackets, as in {@code [2, 5, 6]}. */
    @Override
    public String toString() {
        return Arrays.toString(sizes);
    }
}
