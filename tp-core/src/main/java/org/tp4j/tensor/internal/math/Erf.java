package org.tp4j.tensor.internal.math;

/** The complementary error function in 64 bits. */
public final class Erf {
    /**
     * Chebyshev coefficients of (1 + 2z) e^(z²) erfc(z) over t = (z - K)/(z + K), K = 3.75, for z from 0 to infinity
     * (Shepherd and Laframboise, Math. Comp. 36, 1981), computed again in 50 digits.
     */
    private static final double[] COEFFICIENTS = {
        1.1775789345674017,
        -0.004590054580646478,
        -0.08424913336651792,
        0.05920993999819189,
        -0.026658668435305753,
        0.009074997670705265,
        -0.002413163540417608,
        0.0004907758365258086,
        -6.916973302501207e-05,
        4.13902798607301e-06,
        7.74038306619849e-07,
        -2.1886401049234397e-07,
        1.076499946567091e-08,
        4.521959811218287e-09,
        -7.754400208831351e-10,
        -6.318088340886683e-11,
        2.8687950109306718e-11,
        1.9455868545780174e-13,
        -9.654696748433086e-13,
        3.252548148152944e-14,
        3.3478119482916145e-14,
        -1.8645628803658302e-15,
        -1.2507950530107307e-15,
        7.418235262822262e-17,
        5.068148911293552e-17,
        -2.237056592366241e-18,
        -2.1873428760633594e-18,
    };

    private static final double K = 3.75;

    private Erf() {}

    /** 1 - erf(x), with a relative error of a few 1e-16 wherever it does not underflow. */
    public static double erfc(double x) {
        double z = Math.abs(x);
        if (z > 27.5) {
            return x > 0 ? 0 : 2;
        }
        double t = (z - K) / (z + K);
        double b0 = 0;
        double b1 = 0;
        double b2 = 0;
        for (int i = COEFFICIENTS.length - 1; i >= 0; i--) {
            b2 = b1;
            b1 = b0;
            b0 = 2 * t * b1 - b2 + COEFFICIENTS[i];
        }
        double scaled = (b0 - t * b1) / (1 + 2 * z);
        // e^(-z²) with z² in two parts: high has at most 26 bits, so that its square is exact
        double high = (float) z;
        double e = Math.exp(-high * high) * Math.exp(-(z - high) * (z + high));
        double tail = e * scaled;
        return x >= 0 ? tail : 2 - tail;
    }
}
