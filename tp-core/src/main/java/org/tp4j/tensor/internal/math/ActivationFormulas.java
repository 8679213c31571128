package org.tp4j.tensor.internal.math;

/** Activations and their slopes in 64 bits, as their definitions read. */
public final class ActivationFormulas {
    private static final double SQRT_HALF = Math.sqrt(0.5);
    private static final double INV_SQRT_2PI = 1 / Math.sqrt(2 * Math.PI);
    private static final double SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI);
    private static final double GELU_CUBIC = 0.044715;

    private ActivationFormulas() {}

    /** Standard normal distribution function, accurate in both tails. */
    private static double phi(double x) {
        return 0.5 * Erf.erfc(-x * SQRT_HALF);
    }

    /** x Φ(x); the limits at the infinities are -0 and infinity. */
    public static double gelu(double x) {
        return x == Double.NEGATIVE_INFINITY ? -0.0 : x * phi(x);
    }

    /** Derivative of {@link #gelu}. */
    public static double geluSlope(double x) {
        if (Double.isInfinite(x)) {
            return x > 0 ? 1 : 0;
        }
        return phi(x) + x * INV_SQRT_2PI * Math.exp(-0.5 * x * x);
    }

    /** 0.5 x (1 + tanh u) = x sigmoid(2u). */
    public static double geluTanh(double x) {
        double u = SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x);
        return x == Double.NEGATIVE_INFINITY ? -0.0 : x * sigmoid(2 * u);
    }

    /** Derivative of {@link #geluTanh}. */
    public static double geluTanhSlope(double x) {
        if (Double.isInfinite(x)) {
            return x > 0 ? 1 : 0;
        }
        double s = sigmoid(2 * SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x));
        double slope = s * sigmoid(-2 * SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x));
        // s (1 - s) underflows long before x³ overflows
        return slope == 0 ? s : s + x * slope * 2 * SQRT_2_OVER_PI * (1 + 3 * GELU_CUBIC * x * x);
    }

    /** 1 / (1 + e^-x) without overflow. */
    public static double sigmoid(double x) {
        if (x >= 0) {
            return 1 / (1 + Math.exp(-x));
        }
        double e = Math.exp(x);
        return e / (1 + e);
    }

    /** x sigmoid(x); the limits at the infinities are -0 and infinity. */
    public static double silu(double x) {
        return x == Double.NEGATIVE_INFINITY ? -0.0 : x * sigmoid(x);
    }

    /** Derivative of {@link #silu}. */
    public static double siluSlope(double x) {
        if (Double.isInfinite(x)) {
            return x > 0 ? 1 : 0;
        }
        double s = sigmoid(x);
        return s + x * s * sigmoid(-x);
    }
}
