package org.tp4j.cpu.internal.scalar;

import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.UnaryFunction;

/**
 * Functions of one float by polynomials that are good to some 1e-8, in float arithmetic, and the loops over them. The
 * vector loops do the same operations in the same order, so that both give the same bits.
 *
 * <p>All activations have the form f(x) = max(x, 0) - a T(a) with a = |x|, where T falls from 1/2 to 0:
 *
 * <table>
 * <caption>T and the slope</caption>
 * <tr><th>activation</th><th>T(a)</th><th>D(a)</th></tr>
 * <tr><td>GELU</td><td>Φ(-a) = e^(-a²/2) M(a)</td><td>e^(-a²/2) (M(a) - a/√(2π))</td></tr>
 * <tr><td>SiLU</td><td>q = e^-a / (1 + e^-a)</td><td>q (1 - a (1 - q))</td></tr>
 * <tr><td>GELU, tanh</td><td>q(u), u = a (C1 + C2 a²)</td><td>q (1 - a (1 - q) u')</td></tr>
 * </table>
 *
 * <p>and the slope f'(x) is D(a) for negative x, 1 - D(a) otherwise. There is no cancellation in either tail, and at the
 * infinities the limits come out: 0 and infinity, slopes 0 and 1. NaN passes through because comparisons with it are
 * false and every path multiplies by it.
 */
public final class ScalarMath {
    /** Polynomial of (e^r - 1 - r) / r² for |r| ≤ ln 2 / 2; relative error of e^r 3.1e-9. */
    public static final float E2 = 0.49999994f;

    public static final float E3 = 0.16666521f;
    public static final float E4 = 0.04166839f;
    public static final float E5 = 0.008368716f;
    public static final float E6 = 0.0013814601f;

    /**
     * The Mills ratio over √(2π), M(a) = e^(a²/2) Φ(-a), is t P(t) with t = 1/(1 + MILLS_C a); relative error 2.4e-8 for
     * 0 ≤ a ≤ 15. Fitted by iterated weighted least squares.
     */
    public static final float MILLS_C = 0.27f;

    public static final float M0 = 0.107721f;
    public static final float M1 = 0.10753726f;
    public static final float M2 = 0.10184864f;
    public static final float M3 = 0.071908005f;
    public static final float M4 = 0.10814333f;
    public static final float M5 = -0.06965181f;
    public static final float M6 = 0.17015715f;
    public static final float M7 = -0.12665917f;
    public static final float M8 = 0.028995613f;
    public static final float MINUS_INV_SQRT_2PI = -0.3989423f;

    /** 2√(2/π) and that times 0.044715: the tanh approximation is x sigmoid(x (C1 + C2 x²)). */
    public static final float C1 = 1.5957692f;

    public static final float C2 = 0.071354814f;
    public static final float THREE_C2 = 0.21406445f;

    /** (tanh(x) - x) / x³ by powers of x², for |x| < 0.55; relative error of tanh 1.1e-9. */
    public static final float T3 = -0.33333316f;

    public static final float T5 = 0.13332585f;
    public static final float T7 = -0.053852197f;
    public static final float T9 = 0.021071179f;
    public static final float T11 = -0.006273487f;

    /** Below this tanh is taken by its polynomial, since 1 - e^-2a would cancel. */
    public static final float TANH_NEAR = 0.55f;

    /** Beyond this tanh is 1. */
    public static final float TANH_LIMIT = 20;

    /** Where e^-a and e^(-a²/2) become subnormal: the power of two they are multiplied by is 0 there. */
    public static final float EXP_LIMIT = 88.03f;

    public static final float GELU_LIMIT = 13.27f;

    /** Beyond these e^x is 0 and infinity. */
    public static final float EXP_LOW = -110;

    public static final float EXP_HIGH = 100;
    public static final float LOG2_E = 1.442695f;

    /** -ln 2 in two parts, the first short enough that its product with a small integer is exact. */
    public static final float LN2_HIGH = -0.6933594f;

    public static final float LN2_LOW = 2.1219444e-4f;

    /** 1.5 · 2^23: adding it rounds to an integer and leaves that integer in the lowest bits. */
    public static final float ROUNDER = 12582912;

    public static final int ROUNDER_BITS = 0x4b400000;
    public static final int ONE_BITS = 0x3f800000;

    /** Whether {@link Math#fma} is an instruction; otherwise it is computed in decimal, a thousand times slower. */
    private static final boolean FUSES = fmaIsFast();

    private ScalarMath() {}

    /** Runs the loop out = f(x) of a function that has a formula here; false if it has none. */
    static boolean unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n) {
        switch (function) {
            case EXP -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = exp(x[xAt + i]);
                }
            }
            case SIGMOID -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = sigmoid(x[xAt + i]);
                }
            }
            case TANH -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = tanh(x[xAt + i]);
                }
            }
            case GELU -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = gelu(x[xAt + i]);
                }
            }
            case GELU_TANH -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = geluTanh(x[xAt + i]);
                }
            }
            case SILU -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = silu(x[xAt + i]);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Runs the loop out = f(a, b) of a function that has a formula here; false if it has none. */
    static boolean binary(
            BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (function) {
            case RELU_GRAD -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = a[aAt + i] > 0 ? b[bAt + i] : 0;
                }
            }
            case GELU_GRAD -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = geluSlope(a[aAt + i]) * b[bAt + i];
                }
            }
            case GELU_TANH_GRAD -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = geluTanhSlope(a[aAt + i]) * b[bAt + i];
                }
            }
            case SILU_GRAD -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = siluSlope(a[aAt + i]) * b[bAt + i];
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /** value = activation(x) and slope = activation'(x). */
    static void activate(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        for (int i = 0; i < n; i++) {
            float z = x[xAt + i];
            switch (activation) {
                case RELU -> {
                    value[valueAt + i] = Math.max(z, 0f);
                    slope[slopeAt + i] = z > 0 ? 1 : 0;
                }
                case GELU -> {
                    value[valueAt + i] = gelu(z);
                    slope[slopeAt + i] = geluSlope(z);
                }
                case GELU_TANH -> {
                    value[valueAt + i] = geluTanh(z);
                    slope[slopeAt + i] = geluTanhSlope(z);
                }
                case SILU -> {
                    value[valueAt + i] = silu(z);
                    slope[slopeAt + i] = siluSlope(z);
                }
                default -> {
                    value[valueAt + i] = (float) activation.forward().apply((double) z, 0, 0);
                    slope[slopeAt + i] = (float) activation.gradient().apply((double) z, 1.0);
                }
            }
        }
    }

    private static boolean fmaIsFast() {
        final int calls = 20;
        final long limitNanos = 500;
        long best = Long.MAX_VALUE;
        float sum = 0;
        for (int round = 0; round < 10; round++) {
            long start = System.nanoTime();
            for (int i = 0; i < calls; i++) {
                sum += Math.fma(1.1f, i + 0.3f, round);
            }
            best = Math.min(best, System.nanoTime() - start);
        }
        return best < calls * limitNanos || sum < 0;
    }

    private static float fma(float a, float b, float c) {
        return FUSES ? Math.fma(a, b, c) : a * b + c;
    }

    /** e^(z + error) · 2^shift up to that power of two, where rounded = z / ln 2 + ROUNDER. */
    private static float exponential(float z, float rounded, float error) {
        float k = rounded - ROUNDER;
        float r = fma(k, LN2_LOW, fma(k, LN2_HIGH, z)) + error;
        float p = fma(fma(fma(fma(r, E6, E5), r, E4), r, E3), r, E2);
        return fma(p * r, r, r) + 1;
    }

    /** 2^k, where the lowest bits of {@code bits} hold k, from -127 (which gives 0) to 127. */
    private static float power(int bits) {
        return Float.intBitsToFloat((bits << 23) + ONE_BITS);
    }

    /** e^(z + error) for -EXP_LIMIT ≤ z ≤ 0. */
    private static float expOfNegative(float z, float error) {
        float rounded = fma(z, LOG2_E, ROUNDER);
        return exponential(z, rounded, error) * power(Float.floatToRawIntBits(rounded));
    }

    /** e^x with overflow to infinity and gradual underflow. */
    static float exp(float x) {
        float low = x < EXP_LOW ? EXP_LOW : x;
        float z = low > EXP_HIGH ? EXP_HIGH : low;
        float rounded = fma(z, LOG2_E, ROUNDER);
        int bits = Float.floatToRawIntBits(rounded) - ROUNDER_BITS;
        // 2^k in two factors, since k itself may lie beyond the exponents of floats
        int half = bits >> 1;
        return exponential(z, rounded, 0) * power(half) * power(bits - half);
    }

    private static float magnitude(float x, float limit) {
        float m = Math.abs(x);
        return m > limit ? limit : m;
    }

    private static float gauss(float a) {
        float half = a * -0.5f;
        float z = a * half;
        return expOfNegative(z, fma(a, half, -z));
    }

    private static float mills(float a) {
        float t = 1 / fma(a, MILLS_C, 1);
        float p = fma(fma(fma(fma(t, M8, M7), t, M6), t, M5), t, M4);
        return fma(fma(fma(fma(p, t, M3), t, M2), t, M1), t, M0) * t;
    }

    private static float tanhArgument(float a) {
        float u = a * fma(a * a, C2, C1);
        return -(u > EXP_LIMIT ? EXP_LIMIT : u);
    }

    private static float positive(float x) {
        return x < 0 ? 0 : x;
    }

    private static float slope(float x, float d) {
        return x < 0 ? d : 1 - d;
    }

    static float sigmoid(float x) {
        float e = expOfNegative(-magnitude(x, EXP_LIMIT), 0);
        return (x < 0 ? e : 1) / (e + 1);
    }

    static float tanh(float x) {
        float a = magnitude(x, TANH_LIMIT);
        float t;
        if (a < TANH_NEAR) {
            float s = a * a;
            float p = fma(fma(fma(fma(s, T11, T9), s, T7), s, T5), s, T3);
            t = fma(p * s, a, a);
        } else {
            float e = expOfNegative(a * -2, 0);
            t = (1 - e) / (e + 1);
        }
        return x < 0 ? -t : t;
    }

    static float gelu(float x) {
        float a = magnitude(x, GELU_LIMIT);
        return positive(x) - a * (gauss(a) * mills(a));
    }

    static float geluSlope(float x) {
        float a = magnitude(x, GELU_LIMIT);
        return slope(x, gauss(a) * fma(a, MINUS_INV_SQRT_2PI, mills(a)));
    }

    static float silu(float x) {
        float a = magnitude(x, EXP_LIMIT);
        float e = expOfNegative(-a, 0);
        return positive(x) - a * (e * (1 / (e + 1)));
    }

    static float siluSlope(float x) {
        float a = magnitude(x, EXP_LIMIT);
        float e = expOfNegative(-a, 0);
        float r = 1 / (e + 1);
        float q = e * r;
        return slope(x, q - q * r * a);
    }

    static float geluTanh(float x) {
        float a = magnitude(x, GELU_LIMIT);
        float e = expOfNegative(tanhArgument(a), 0);
        return positive(x) - a * (e * (1 / (e + 1)));
    }

    static float geluTanhSlope(float x) {
        float a = magnitude(x, GELU_LIMIT);
        float e = expOfNegative(tanhArgument(a), 0);
        float r = 1 / (e + 1);
        float q = e * r;
        return slope(x, q - q * r * a * fma(a * a, THREE_C2, C1));
    }
}
