package org.tp4j.cpu.internal.memory;

import org.tp4j.tensor.Shape;

/**
 * Iterates over the index tuples of a box, last dimension fastest, and keeps the offset of the current tuple in several
 * strided arrays.
 */
public final class Odometer {
    private final long[] sizes;
    private final long[][] strides;
    private final long[] index;
    private final long[] offsets;

    /** Over {@code sizes}, with the strides of each array. */
    public Odometer(long[] sizes, long[]... strides) {
        this.sizes = sizes;
        this.strides = strides;
        this.index = new long[sizes.length];
        this.offsets = new long[strides.length];
    }

    /** Over {@code out}, to which the operands broadcast. */
    public Odometer(Shape out, Shape... operands) {
        this(out.toArray(), new long[operands.length][]);
        for (int i = 0; i < operands.length; i++) {
            strides[i] = broadcastStrides(operands[i], out);
        }
    }

    /** Strides with which {@code operand} is read where it broadcasts to {@code out}: 0 where it stretches. */
    static long[] broadcastStrides(Shape operand, Shape out) {
        long[] result = new long[out.dims()];
        int missing = out.dims() - operand.dims();
        long stride = 1;
        for (int d = operand.dims() - 1; d >= 0; d--) {
            long size = operand.size(d);
            result[d + missing] = size == 1 ? 0 : stride;
            stride *= size;
        }
        return result;
    }

    /** Offset of the current tuple in array {@code i}. */
    public long offset(int i) {
        return offsets[i];
    }

    /** Moves to the next tuple; after the last comes the first. */
    public void next() {
        for (int d = sizes.length - 1; d >= 0; d--) {
            index[d]++;
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] += strides[i][d];
            }
            if (index[d] < sizes[d]) {
                return;
            }
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] -= index[d] * strides[i][d];
            }
            index[d] = 0;
        }
    }
}
