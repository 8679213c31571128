package org.tp4j.cpu;

import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/** Moves pieces of 16-bit float arrays into floats and back, rounding to nearest even. */
final class Widening {
    private Widening() {}

    /** to[at ...] = n elements of {@code from}, which is of a 16-bit type, from its element {@code first}. */
    static void widen(NdArray from, long first, float[] to, int at, int n) {
        short[] bits = ((HostStorage) from.storage()).shorts();
        int offset = (int) (from.offset() + first);
        if (from.dtype() == DType.BFLOAT16) {
            for (int i = 0; i < n; i++) {
                to[at + i] = Halves.bfloat16ToFloat(bits[offset + i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[at + i] = Halves.float16ToFloat(bits[offset + i]);
            }
        }
    }

    /** n elements of {@code to}, which is of a 16-bit type, from its element {@code first} = from[at ...], rounded. */
    static void narrow(float[] from, int at, NdArray to, long first, int n) {
        short[] bits = ((HostStorage) to.storage()).shorts();
        int offset = (int) (to.offset() + first);
        if (to.dtype() == DType.BFLOAT16) {
            for (int i = 0; i < n; i++) {
                bits[offset + i] = Halves.floatToBfloat16(from[at + i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                bits[offset + i] = Halves.floatToFloat16(from[at + i]);
            }
        }
    }
}
