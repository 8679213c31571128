package org.tp4j.cpu.internal.scalar;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.UnaryFunction;

/**
 * The loops over float arrays that the compiler does not make vector instructions of by itself; n elements from an
 * offset in each array. An output may be one of the inputs at the same offset. Sums are taken in the order of {@link
 * Sums}.
 *
 * <p>There are scalar and vector loops, and they give the same bits: which of them computes a piece may change at any
 * time without an effect. Where an exact result is smaller than 1e-36, 0 may stand for it.
 */
public interface FloatKernels {
    /** A description, for messages. */
    String description();

    /** out = function(x; a, b). */
    void unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b);

    /** out = function(a, b) for a function that gives numbers. */
    void binary(BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n);

    /** value = activation(x) and slope = activation'(x); either may be x. */
    void activate(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n);

    /** y += alpha · x. */
    void addScaled(float alpha, float[] x, int xAt, float[] y, int yAt, int n);

    /** y += a · b. */
    void addProduct(float[] a, int aAt, float[] b, int bAt, float[] y, int yAt, int n);

    /** out[j] = the sum of x[at + i · stride + j] over i below rows, which is 1 to 8. */
    void addRows(float[] x, int at, int stride, int rows, float[] out, int outAt, int n);

    /** out = (x - shift) · scale · weight + bias; null stands for 1 and 0. */
    void affine(
            float[] x,
            int xAt,
            float shift,
            float scale,
            float @Nullable [] weight,
            int weightAt,
            float @Nullable [] bias,
            int biasAt,
            float[] out,
            int outAt,
            int n);

    /** out = scale · (g - shift - slope · x): the gradient of a normalized row x. */
    void project(
            float[] g,
            int gAt,
            float[] x,
            int xAt,
            float shift,
            float slope,
            float scale,
            float[] out,
            int outAt,
            int n);

    /** One Adam step on n elements. */
    void adam(AdamStep step, float[] w, int wAt, float[] g, int gAt, float[] m, int mAt, float[] v, int vAt, int n);

    /** Σ x. */
    double sum(float[] x, int at, int n);

    /** Σ (x - shift)². */
    double sumSquares(float[] x, int at, float shift, int n);

    /** Σ x y. */
    double dot(float[] x, int xAt, float[] y, int yAt, int n);

    /** The largest, NaN if one is; negative infinity of nothing. */
    float max(float[] x, int at, int n);

    /** out = e^(x - shift), returning its sum. */
    double expSum(float[] x, int xAt, float shift, float[] out, int outAt, int n);

    /** The words of consecutive Philox counters, see {@link Philox#fill}. */
    void philox(long key, long counterLow, long counterHigh, int[] out, int blocks);

    /** out = x · scale where the upper 24 bits of the element's word are at least {@code threshold}, else 0. */
    void keep(int[] words, int wordAt, int threshold, float scale, float[] x, int xAt, float[] out, int outAt, int n);

    /** Floats of the bits of a 16-bit type. */
    void widen(DType half, short[] from, int fromAt, float[] to, int toAt, int n);

    /** The bits of the nearest numbers of a 16-bit type, of two the even. */
    void narrow(DType half, float[] from, int fromAt, short[] to, int toAt, int n);
}
