package org.tp4j.cuda.internal.launch;

import java.util.function.Consumer;
import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.tensor.Shape;

/**
 * A box of index tuples over which several arrays are walked, each with its own strides, as kernels take it: dimensions that
 * are contiguous with each other in all arrays are merged, and kernels get fewer than 2^31 tuples at a time, so they need no
 * 64-bit division.
 */
public final class StridedBox {
    /** The maximum number of dimensions a kernel takes, after merging. */
    static final int MAX_DIMS = KernelConstants.MAX_DIMS;

    private static final long MOST_TUPLES = 1L << 30;

    private final long[] sizes; // innermost first
    private final long[][] strides; // of each array, innermost dimension first
    private final long[] offsets; // of each array, to the start of the box
    private final long first;

    private StridedBox(long[] sizes, long[][] strides, long[] offsets, long first) {
        this.sizes = sizes;
        this.strides = strides;
        this.offsets = offsets;
        this.first = first;
    }

    /**
     * A box.
     *
     * @param sizes outermost first, none 0
     * @param strides each array's strides in elements, outermost first; 0 where an array does not advance
     */
    public static StridedBox of(long[] sizes, long[]... strides) {
        int arrays = strides.length;
        long[] merged = new long[Math.max(1, sizes.length)];
        long[][] steps = new long[arrays][merged.length];
        int dims = 0;
        for (int d = sizes.length - 1; d >= 0; d--) {
            if (sizes[d] == 1) {
                continue;
            }
            boolean follows = dims > 0;
            for (int k = 0; follows && k < arrays; k++) {
                follows = strides[k][d] == steps[k][dims - 1] * merged[dims - 1];
            }
            if (follows) {
                merged[dims - 1] *= sizes[d];
            } else {
                merged[dims] = sizes[d];
                for (int k = 0; k < arrays; k++) {
                    steps[k][dims] = strides[k][d];
                }
                dims++;
            }
        }
        if (dims == 0) {
            merged[0] = 1;
            dims = 1;
        }
        long[] kept = java.util.Arrays.copyOf(merged, dims);
        for (int k = 0; k < arrays; k++) {
            steps[k] = java.util.Arrays.copyOf(steps[k], dims);
        }
        return new StridedBox(kept, steps, new long[arrays], 0);
    }

    /** The strides with which an array of shape {@code operand} is walked when it is broadcast to {@code out}. */
    public static long[] broadcastStrides(Shape operand, Shape out) {
        long[] own = operand.strides();
        long[] result = new long[out.dims()];
        for (int d = 1; d <= own.length; d++) {
            if (operand.size(-d) != 1) {
                result[result.length - d] = own[own.length - d];
            }
        }
        return result;
    }

    /** Number of dimensions, at least 1. */
    public int dims() {
        return sizes.length;
    }

    /** Size of a dimension; 0 is the innermost. */
    public long size(int dim) {
        return sizes[dim];
    }

    /** Stride of an array in a dimension; 0 is the innermost. */
    public long stride(int array, int dim) {
        return strides[array][dim];
    }

    /** Elements from the start of an array to the box. */
    public long offset(int array) {
        return offsets[array];
    }

    /** Tuples that precede the box's in the row-major order of the whole. */
    public long first() {
        return first;
    }

    /** Number of index tuples. */
    public long elements() {
        long product = 1;
        for (long size : sizes) {
            product *= size;
        }
        return product;
    }

    /**
     * The same box with its innermost dimension counted in units of several elements, which must divide all sizes and
     * strides.
     *
     * @param unit elements per unit
     * @param counted which arrays' strides are counted in units from now on; the others' stay in elements
     */
    public StridedBox inUnitsOf(int unit, boolean... counted) {
        long[] fewer = sizes.clone();
        fewer[0] /= unit;
        long[][] wider = new long[strides.length][];
        for (int k = 0; k < strides.length; k++) {
            wider[k] = strides[k].clone();
            for (int d = counted[k] ? 1 : wider[k].length; d < wider[k].length; d++) {
                wider[k][d] /= unit;
            }
        }
        return new StridedBox(fewer, wider, offsets, first);
    }

    /** The box of all dimensions except these. */
    public StridedBox without(int... left) {
        int dims = Math.max(1, sizes.length - left.length);
        long[] rest = new long[dims];
        long[][] steps = new long[strides.length][dims];
        rest[0] = 1;
        for (int d = 0, to = 0; d < sizes.length; d++) {
            int dim = d;
            if (java.util.Arrays.stream(left).noneMatch(other -> other == dim)) {
                rest[to] = sizes[d];
                for (int k = 0; k < strides.length; k++) {
                    steps[k][to] = strides[k][d];
                }
                to++;
            }
        }
        return new StridedBox(rest, steps, offsets, first);
    }

    /** The box, if a kernel can take it at once, or its parts in order. */
    public void forEachPart(Consumer<StridedBox> action) {
        forEachPart(MOST_TUPLES, action);
    }

    /** As above, with the number of index tuples that a kernel takes at once. */
    public void forEachPart(long mostTuples, Consumer<StridedBox> action) {
        long elements = elements();
        if (elements <= mostTuples && sizes.length <= MAX_DIMS) {
            action.accept(this);
            return;
        }
        int outer = sizes.length - 1;
        long inner = elements / sizes[outer];
        long piece = sizes.length > MAX_DIMS ? 1 : Math.max(1, mostTuples / inner);
        for (long at = 0; at < sizes[outer]; at += piece) {
            slice(at, Math.min(piece, sizes[outer] - at), inner).forEachPart(mostTuples, action);
        }
    }

    /** Part of the outermost dimension, which is dropped if only one index of it is left. */
    private StridedBox slice(long at, long size, long inner) {
        int outer = sizes.length - 1;
        long[] begin = offsets.clone();
        for (int k = 0; k < begin.length; k++) {
            begin[k] += at * strides[k][outer];
        }
        if (size == 1 && outer > 0) {
            long[][] rest = new long[strides.length][];
            for (int k = 0; k < rest.length; k++) {
                rest[k] = java.util.Arrays.copyOf(strides[k], outer);
            }
            return new StridedBox(java.util.Arrays.copyOf(sizes, outer), rest, begin, first + at * inner);
        }
        long[] fewer = sizes.clone();
        fewer[outer] = size;
        return new StridedBox(fewer, strides, begin, first + at * inner);
    }
}
