package org.tp4j.tensor.internal.math;

/**
 * Conversions between float and the two 16-bit formats, exact one way, rounded to nearest even the other; subnormals,
 * infinities and the sign of zero are kept, and a NaN stays a NaN.
 */
public final class HalfFloats {
    private HalfFloats() {}

    /** The value of a bfloat16. */
    public static float bfloat16ToFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** The nearest bfloat16. */
    public static short floatToBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if ((bits & 0x7fffffff) > 0x7f800000) {
            return (short) (bits >>> 16 | 0x40); // quiet, so that dropping the low bits cannot make it infinite
        }
        return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
    }

    /** The value of an IEEE binary16. */
    public static float float16ToFloat(short bits) {
        int sign = (bits & 0x8000) << 16;
        int exponent = bits >>> 10 & 0x1f;
        int mantissa = bits & 0x3ff;
        if (exponent == 0x1f) {
            return Float.intBitsToFloat(sign | 0x7f800000 | mantissa << 13);
        } else if (exponent == 0) {
            float magnitude = mantissa * 0x1p-24f;
            return Float.intBitsToFloat(sign | Float.floatToRawIntBits(magnitude));
        }
        return Float.intBitsToFloat(sign | exponent + 112 << 23 | mantissa << 13);
    }

    /** The nearest IEEE binary16; magnitudes from 65520 become infinite. */
    public static short floatToFloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = bits >>> 16 & 0x8000;
        int magnitude = bits & 0x7fffffff;
        if (magnitude > 0x7f800000) {
            return (short) (sign | 0x7e00 | magnitude >>> 13 & 0x3ff);
        } else if (magnitude >= 0x477ff000) {
            return (short) (sign | 0x7c00);
        } else if (magnitude < 0x38800000) {
            // A subnormal half counts units of 2^-24: adding 2^-1 leaves them in the lowest bits of the sum, rounded.
            float shifted = Float.intBitsToFloat(magnitude) + 0.5f;
            return (short) (sign | Float.floatToRawIntBits(shifted) - 0x3f000000);
        }
        int rounded = magnitude + 0xfff + (magnitude >>> 13 & 1);
        return (short) (sign | (rounded >>> 13) - (112 << 10));
    }
}
