package org.tp4j.op.internal;

import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;

/** Checks of ids and labels against the size of what they index. */
final class Ids {
    private Ids() {}

    /**
     * @throws IllegalArgumentException naming the value, its position and what is allowed
     */
    static void check(String operation, String what, NdArray ids, long classes, long except, Region region) {
        long at = ids.backend().loss().firstOutside(ids, 0, classes, except);
        if (at < 0) {
            return;
        }
        NdArray one = ids.window(at, org.tp4j.tensor.Shape.scalar());
        java.nio.ByteBuffer bytes = java.nio.ByteBuffer.allocate(8).order(java.nio.ByteOrder.LITTLE_ENDIAN);
        ids.backend().copyOut(one, bytes.limit(ids.dtype().bytes()));
        long value = ids.dtype().bytes() == 8 ? bytes.getLong(0) : bytes.getInt(0);
        long[] position = new long[region.local().dims()];
        long[] strides = region.local().strides();
        long rest = at;
        for (int d = 0; d < position.length; d++) {
            position[d] = region.offsets()[d] + rest / strides[d];
            rest %= strides[d];
        }
        throw new IllegalArgumentException(operation + ": " + what + " " + value + " at position "
                + java.util.Arrays.toString(position) + " is outside 0 to " + (classes - 1)
                + (except == Long.MIN_VALUE ? "" : " and not the ignored " + except));
    }
}
