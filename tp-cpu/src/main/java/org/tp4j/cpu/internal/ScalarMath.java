package org.tp4j.cpu.internal;

/**
 * Functions of one float, computed in double with polynomials that are good to some 1e-8: as accurate as a float can
 * show, and several times faster than {@link Math}.
 *
 * <p>All four activations have the form f(x) = max(x, 0) - a T(a) with a = |x|, where T falls from 1/2 to 0:
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
 * infinities the limits come out: 0 and infinity, slopes 0 and 1.
 */
public final class ScalarMath {
    /** Polynomial of (e^r - 1 - r) / r² for |r| ≤ ln 2 / 2; relative error of e^r 3.1e-9. */
    public static final double E2 = 0.4999999344863725;

    public static final double E3 = 0.1666652064472462;
    public static final double E4 = 0.04166838790060299;
    public static final double E5 = 0.008368715276704854;
    public static final double E6 = 0.0013814601258942097;

    /**
     * The Mills ratio over √(2π), M(a) = e^(a²/2) Φ(-a), is t P(t) with t = 1/(1 + MILLS_C a); relative error 2.4e-8 for
     * 0 ≤ a ≤ 15. Fitted by iterated weighted least squares.
     */
    public static final double MILLS_C = 0.27;

    public static final double M0 = 0.10772100429700338;
    public static final double M1 = 0.10753726157522744;
    public static final double M2 = 0.10184864028196018;
    public static final double M3 = 0.07190800791600616;
    public static final double M4 = 0.10814332922283164;
    public static final double M5 = -0.0696518142816399;
    public static final double M6 = 0.17015714643591973;
    public static final double M7 = -0.12665917609459817;
    public static final double M8 = 0.028995612632898286;

    /** 1/√(2π). */
    public static final double INV_SQRT_2PI = 0.3989422804014327;

    /** 2√(2/π) and that times 0.044715: the tanh approximation is x sigmoid(x (C1 + C2 x²)). */
    public static final double C1 = 1.5957691216057308;

    public static final double C2 = 0.07135481627260025;

    private static final double LOG2_E = 1.4426950408889634;
    private static final double LN_2 = 0.6931471805599453;

    private ScalarMath() {}

    /** e^x; 0 below -150 and infinity above 130. */
    static double exp(double x) {
        if (!(x >= -150)) {
            return x < -150 ? 0 : x;
        }
        double k = Math.rint(Math.min(x, 130) * LOG2_E);
        double r = Math.min(x, 130) - k * LN_2;
        double p = 1 + r + r * r * (E2 + r * (E3 + r * (E4 + r * (E5 + r * E6))));
        return p * Double.longBitsToDouble((long) k + 1023 << 52);
    }

    /** M(a), for a ≥ 0. */
    static double mills(double a) {
        double t = 1 / (1 + MILLS_C * a);
        double p = M7 + t * M8;
        p = M4 + t * (M5 + t * (M6 + t * p));
        return t * (M0 + t * (M1 + t * (M2 + t * (M3 + t * p))));
    }

    /** q(a) = e^-a / (1 + e^-a), for a ≥ 0. */
    static double lower(double a) {
        double e = exp(-a);
        return e / (1 + e);
    }

    static float sigmoid(float x) {
        double q = lower(Math.abs(x));
        return (float) (x < 0 ? q : 1 - q);
    }

    static float tanh(float x) {
        double a = Math.abs((double) x);
        if (a < 0.1) {
            double s = a * a;
            return (float) (x * (1 - s * (1 / 3.0 - s * (2 / 15.0 - s * (17 / 315.0)))));
        }
        double e = exp(-2 * a);
        double t = (1 - e) / (1 + e);
        return (float) (x < 0 ? -t : t);
    }

    static float gelu(float x) {
        double a = Math.min(Math.abs((double) x), 20);
        return (float) (Math.max(x, 0) - a * exp(-0.5 * a * a) * mills(a));
    }

    static float geluSlope(float x) {
        double a = Math.min(Math.abs((double) x), 20);
        double d = exp(-0.5 * a * a) * (mills(a) - a * INV_SQRT_2PI);
        return (float) (x < 0 ? d : 1 - d);
    }

    static float silu(float x) {
        double a = Math.min(Math.abs((double) x), 200);
        return (float) (Math.max(x, 0) - a * lower(a));
    }

    static float siluSlope(float x) {
        double a = Math.min(Math.abs((double) x), 200);
        double q = lower(a);
        double d = q * (1 - a * (1 - q));
        return (float) (x < 0 ? d : 1 - d);
    }

    static float geluTanh(float x) {
        double a = Math.min(Math.abs((double) x), 20);
        return (float) (Math.max(x, 0) - a * lower(a * (C1 + C2 * a * a)));
    }

    static float geluTanhSlope(float x) {
        double a = Math.min(Math.abs((double) x), 20);
        double q = lower(a * (C1 + C2 * a * a));
        double d = q * (1 - a * (1 - q) * (C1 + 3 * C2 * a * a));
        return (float) (x < 0 ? d : 1 - d);
    }
}
