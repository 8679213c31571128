package org.tp4j.tensor.internal.math;

import java.nio.ByteBuffer;

/** Elements of 1, 2, 4 or 8 bytes in a buffer, as the bits that {@code DType.encode} returns. */
public final class ElementBits {
    private ElementBits() {}

    /** The next element. */
    public static long get(ByteBuffer from, int bytes) {
        return switch (bytes) {
            case 1 -> from.get();
            case 2 -> from.getShort();
            case 4 -> from.getInt();
            default -> from.getLong();
        };
    }

    /** Writes the next element. */
    public static void put(ByteBuffer to, int bytes, long bits) {
        switch (bytes) {
            case 1 -> to.put((byte) bits);
            case 2 -> to.putShort((short) bits);
            case 4 -> to.putInt((int) bits);
            default -> to.putLong(bits);
        }
    }
}
