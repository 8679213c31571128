package org.tp4j.tensor;

import java.util.Arrays;

/**
 * A box within a tensor: which part of the global tensor an array holds.
 *
 * @param global shape of the whole tensor
 * @param local shape of the box
 * @param offsets where the box begins in each dimension
 */
public record Region(Shape global, Shape local, long[] offsets) {
    /** Checks that the box lies within the tensor. */
    public Region {
        if (global.dims() != local.dims() || offsets.length != global.dims()) {
            throw new IllegalArgumentException(
                    "region of " + local + " at " + Arrays.toString(offsets) + " in " + global);
        }
        for (int d = 0; d < offsets.length; d++) {
            if (offsets[d] < 0 || offsets[d] > global.size(d) - local.size(d)) { // a sum could overflow
                throw new IllegalArgumentException(
                        "region of " + local + " at " + Arrays.toString(offsets) + " reaches outside " + global);
            }
        }
        offsets = offsets.clone();
    }

    /** The whole tensor. */
    public static Region whole(Shape shape) {
        return new Region(shape, shape, new long[shape.dims()]);
    }

    /** Whether the box is the whole tensor, so that local and global linear indices are the same. */
    public boolean isWhole() {
        return global.equals(local);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Region that
                && global.equals(that.global)
                && local.equals(that.local)
                && Arrays.equals(offsets, that.offsets);
    }

    @Override
    public int hashCode() {
        return (global.hashCode() * 31 + local.hashCode()) * 31 + Arrays.hashCode(offsets);
    }

    @Override
    public String toString() {
        return local + " at " + Arrays.toString(offsets) + " of " + global;
    }
}
