package org.tp4j.tensor;

/** Conversions between 32-bit floats and the bit patterns of the 16-bit types; rounding is to nearest, ties to even. */
public final class HalfFloats {
    private HalfFloats() {}

    /** A bfloat16 as a float, exact. */
    public static float bfloat16ToFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** The nearest bfloat16; NaN stays NaN. */
    public static short floatToBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if ((bits & 0x7fffffff) > 0x7f800000) {
            return (short) (bits >>> 16 | 0x40); // a quiet NaN, whatever the lower half held
        }
        return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
    }

    /** An IEEE binary16 as a float, exact. */
    public static float float16ToFloat(short bits) {
        int sign = (bits & 0x8000) << 16;
        int exponent = bits >>> 10 & 0x1f;
        int fraction = bits & 0x3ff;
        if (exponent == 0x1f) {
            return Float.intBitsToFloat(sign | 0x7f800000 | fraction << 13);
        }
        if (exponent == 0) {
            float magnitude = fraction * 0x1p-24f;
            return sign == 0 ? magnitude : -magnitude;
        }
        return Float.intBitsToFloat(sign | exponent + 112 << 23 | fraction << 13);
    }

    /** The nearest IEEE binary16; too large becomes infinite, NaN stays NaN. */
    public static short floatToFloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        int sign = bits >>> 16 & 0x8000;
        int magnitude = bits & 0x7fffffff;
        if (magnitude > 0x7f800000) {
            return (short) (sign | 0x7e00);
        }
        if (magnitude >= 0x477ff000) {
            return (short) (sign | 0x7c00); // 65520 and above round to infinity
        }
        if (magnitude >= 0x38800000) {
            int rounded = magnitude + 0xfff + (magnitude >>> 13 & 1);
            return (short) (sign | rounded - 0x38000000 >>> 13);
        }
        // subnormal: adding a large number leaves the rounded multiple of 2^-24 in the low bits
        float shifted = Float.intBitsToFloat(magnitude) + 0.5f;
        return (short) (sign | Float.floatToRawIntBits(shifted) - 0x3f000000);
    }
}
