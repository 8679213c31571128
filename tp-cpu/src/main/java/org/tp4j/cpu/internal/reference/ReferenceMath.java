package org.tp4j.cpu.internal.reference;

import org.tp4j.cpu.internal.scalar.Erf;
import org.tp4j.tensor.BinaryKernel;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.UnaryKernel;

/** The elementwise functions of one element in 64 bits, written as their definitions read. */
public final class ReferenceMath {
    private static final double SQRT_HALF = Math.sqrt(0.5);
    private static final double INV_SQRT_2PI = 1 / Math.sqrt(2 * Math.PI);
    private static final double SQRT_2_OVER_PI = Math.sqrt(2 / Math.PI);
    private static final double GELU_CUBIC = 0.044715;

    private ReferenceMath() {}

    /** kernel(x; a, b). */
    public static double unary(UnaryKernel kernel, double x, double a, double b) {
        return switch (kernel) {
            case NEG -> -x;
            case ABS -> Math.abs(x);
            case EXP -> Math.exp(x);
            case LOG -> Math.log(x);
            case SQRT -> Math.sqrt(x);
            case RSQRT -> 1 / Math.sqrt(x);
            case SQUARE -> x * x;
            case RECIPROCAL -> 1 / x;
            case RELU -> Math.max(x, 0);
            case GELU -> gelu(x);
            case GELU_TANH -> geluTanh(x);
            case SILU -> silu(x);
            case SIGMOID -> sigmoid(x);
            case TANH -> Math.tanh(x);
            case SCALE -> a * x;
            case SHIFT -> x + a;
            case CLAMP -> Math.min(Math.max(x, a), b);
            case NOT -> x == 0 ? 1 : 0;
        };
    }

    /** kernel(a, b); comparisons and logic give 1 or 0. */
    public static double binary(BinaryKernel kernel, double a, double b) {
        return switch (kernel) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> a / b;
            case MAXIMUM -> Math.max(a, b);
            case MINIMUM -> Math.min(a, b);
            case EQ -> a == b ? 1 : 0;
            case NE -> a != b ? 1 : 0;
            case LT -> a < b ? 1 : 0;
            case LE -> a <= b ? 1 : 0;
            case GT -> a > b ? 1 : 0;
            case GE -> a >= b ? 1 : 0;
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case RELU_GRAD -> a > 0 ? b : 0;
            case GELU_GRAD -> geluDerivative(a) * b;
            case GELU_TANH_GRAD -> geluTanhDerivative(a) * b;
            case SILU_GRAD -> siluDerivative(a) * b;
            case SIGMOID_GRAD -> a * (1 - a) * b;
            case TANH_GRAD -> (1 - a * a) * b;
        };
    }

    /** kernel(x; a, b) for integers, which wrap around; functions that give fractions are not defined for them. */
    public static long unary(UnaryKernel kernel, long x, double a, double b) {
        return switch (kernel) {
            case NEG -> -x;
            case ABS -> Math.abs(x);
            case SQUARE -> x * x;
            case RELU -> Math.max(x, 0);
            case SCALE -> a == (long) a ? x * (long) a : (long) (a * x);
            case SHIFT -> a == (long) a ? x + (long) a : (long) (x + a);
            case CLAMP -> Math.min(Math.max(x, (long) Math.ceil(a)), (long) Math.floor(b));
            case NOT -> x == 0 ? 1 : 0;
            default -> throw new TpException(kernel + " of integers is not defined; HINT: cast to float32 first");
        };
    }

    /** kernel(a, b) for integers, which wrap around; quotients are truncated. */
    public static long binary(BinaryKernel kernel, long a, long b) {
        return switch (kernel) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> {
                if (b == 0) {
                    throw new TpException("integer division of " + a + " by zero");
                }
                yield a / b;
            }
            case MAXIMUM -> Math.max(a, b);
            case MINIMUM -> Math.min(a, b);
            case EQ -> a == b ? 1 : 0;
            case NE -> a != b ? 1 : 0;
            case LT -> a < b ? 1 : 0;
            case LE -> a <= b ? 1 : 0;
            case GT -> a > b ? 1 : 0;
            case GE -> a >= b ? 1 : 0;
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case RELU_GRAD -> a > 0 ? b : 0;
            default -> throw new TpException(kernel + " of integers is not defined; HINT: cast to float32 first");
        };
    }

    /** Standard normal distribution function, accurate in both tails. */
    static double phi(double x) {
        return 0.5 * Erf.erfc(-x * SQRT_HALF);
    }

    /** x Φ(x); the limits at the infinities are -0 and infinity. */
    static double gelu(double x) {
        return x == Double.NEGATIVE_INFINITY ? -0.0 : x * phi(x);
    }

    static double geluDerivative(double x) {
        if (Double.isInfinite(x)) {
            return x > 0 ? 1 : 0;
        }
        return phi(x) + x * INV_SQRT_2PI * Math.exp(-0.5 * x * x);
    }

    /** 0.5 x (1 + tanh u) = x sigmoid(2u). */
    static double geluTanh(double x) {
        double u = SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x);
        return x == Double.NEGATIVE_INFINITY ? -0.0 : x * sigmoid(2 * u);
    }

    static double geluTanhDerivative(double x) {
        if (Double.isInfinite(x)) {
            return x > 0 ? 1 : 0;
        }
        double s = sigmoid(2 * SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x));
        double slope = s * sigmoid(-2 * SQRT_2_OVER_PI * (x + GELU_CUBIC * x * x * x));
        // s (1 - s) underflows long before x³ overflows
        return slope == 0 ? s : s + x * slope * 2 * SQRT_2_OVER_PI * (1 + 3 * GELU_CUBIC * x * x);
    }

    static double sigmoid(double x) {
        if (x >= 0) {
            return 1 / (1 + Math.exp(-x));
        }
        double e = Math.exp(x);
        return e / (1 + e);
    }

    /** x sigmoid(x); the limits at the infinities are -0 and infinity. */
    static double silu(double x) {
        return x == Double.NEGATIVE_INFINITY ? -0.0 : x * sigmoid(x);
    }

    static double siluDerivative(double x) {
        if (Double.isInfinite(x)) {
            return x > 0 ? 1 : 0;
        }
        double s = sigmoid(x);
        return s + x * s * sigmoid(-x);
    }
}
