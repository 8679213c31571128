package org.tp4j.cpu.internal.scalar;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.UnaryFunction;
import org.tp4j.tensor.internal.math.HalfFloats;

/** {@link FloatKernels} in plain Java; what the vector loops must equal bit for bit. */
public class ScalarFloatKernels implements FloatKernels {
    /** Stateless. */
    public ScalarFloatKernels() {}

    @Override
    public String description() {
        return "scalar";
    }

    @Override
    public void unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        if (!ScalarMath.unary(function, x, xAt, out, outAt, n)) {
            Arithmetic.unary(function, x, xAt, out, outAt, n, a, b);
        }
    }

    @Override
    public void binary(BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        if (!ScalarMath.binary(function, a, aAt, b, bAt, out, outAt, n)) {
            Arithmetic.binary(function, a, aAt, b, bAt, out, outAt, n);
        }
    }

    @Override
    public void activate(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        ScalarMath.activate(activation, x, xAt, value, valueAt, slope, slopeAt, n);
    }

    @Override
    public void addScaled(float alpha, float[] x, int xAt, float[] y, int yAt, int n) {
        for (int i = 0; i < n; i++) {
            y[yAt + i] += alpha * x[xAt + i];
        }
    }

    @Override
    public void addProduct(float[] a, int aAt, float[] b, int bAt, float[] y, int yAt, int n) {
        for (int i = 0; i < n; i++) {
            y[yAt + i] += a[aAt + i] * b[bAt + i];
        }
    }

    @Override
    public void addRows(float[] x, int at, int stride, int rows, float[] out, int outAt, int n) {
        if (rows == 8) {
            for (int j = 0; j < n; j++) {
                int i = at + j;
                float s01 = x[i] + x[i + stride];
                float s23 = x[i + 2 * stride] + x[i + 3 * stride];
                float s45 = x[i + 4 * stride] + x[i + 5 * stride];
                float s67 = x[i + 6 * stride] + x[i + 7 * stride];
                out[outAt + j] = s01 + s23 + (s45 + s67);
            }
            return;
        }
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int i = 0; i < rows; i++) {
                sum += x[at + i * stride + j];
            }
            out[outAt + j] = (float) sum;
        }
    }

    @Override
    public void affine(
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
            int n) {
        for (int i = 0; i < n; i++) {
            float normal = (x[xAt + i] - shift) * scale;
            float scaled = weight == null ? normal : normal * weight[weightAt + i];
            out[outAt + i] = bias == null ? scaled : scaled + bias[biasAt + i];
        }
    }

    @Override
    public void project(
            float[] g,
            int gAt,
            float[] x,
            int xAt,
            float shift,
            float slope,
            float scale,
            float[] out,
            int outAt,
            int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = scale * (g[gAt + i] - shift - slope * x[xAt + i]);
        }
    }

    @Override
    public void adam(
            AdamStep step, float[] w, int wAt, float[] g, int gAt, float[] m, int mAt, float[] v, int vAt, int n) {
        float gradScale = step.gradScale();
        float decay = step.coupledDecay();
        float beta1 = step.beta1();
        float rest1 = step.rest1();
        float beta2 = step.beta2();
        float rest2 = step.rest2();
        float keep = step.keep();
        float rate = step.rate();
        float root = step.root();
        float eps = step.eps();
        for (int i = 0; i < n; i++) {
            float weight = w[wAt + i];
            float gradient = gradScale * g[gAt + i] + decay * weight;
            float nextM = beta1 * m[mAt + i] + rest1 * gradient;
            float nextV = beta2 * v[vAt + i] + rest2 * gradient * gradient;
            m[mAt + i] = nextM;
            v[vAt + i] = nextV;
            w[wAt + i] = keep * weight - rate * nextM / ((float) Math.sqrt(nextV) * root + eps);
        }
    }

    @Override
    public double sum(float[] x, int at, int n) {
        double[] columns = Sums.columns();
        Sums.add(x, at, n, columns);
        return Sums.total(columns);
    }

    @Override
    public double sumSquares(float[] x, int at, float shift, int n) {
        double[] columns = Sums.columns();
        Sums.addSquares(x, at, shift, n, columns);
        return Sums.total(columns);
    }

    @Override
    public double dot(float[] x, int xAt, float[] y, int yAt, int n) {
        double[] columns = Sums.columns();
        Sums.addProducts(x, xAt, y, yAt, n, columns);
        return Sums.total(columns);
    }

    @Override
    public float max(float[] x, int at, int n) {
        float max = Float.NEGATIVE_INFINITY;
        for (int i = 0; i < n; i++) {
            max = Math.max(max, x[at + i]);
        }
        return max;
    }

    @Override
    public double expSum(float[] x, int xAt, float shift, float[] out, int outAt, int n) {
        double[] columns = Sums.columns();
        exp(x, xAt, shift, out, outAt, 0, n, columns);
        return Sums.total(columns);
    }

    /** out[i] = e^(x[i] - shift) for i from {@code from} to {@code to}, added to column i mod 16. */
    protected final void exp(
            float[] x, int xAt, float shift, float[] out, int outAt, int from, int to, double[] columns) {
        for (int i = from; i < to; i++) {
            float e = ScalarMath.exp(x[xAt + i] - shift);
            out[outAt + i] = e;
            columns[i % Sums.COLUMNS] += e;
        }
    }

    @Override
    public void philox(long key, long counterLow, long counterHigh, int[] out, int blocks) {
        Philox.fill(key, counterLow, counterHigh, out, blocks);
    }

    @Override
    public void keep(
            int[] words, int wordAt, int threshold, float scale, float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            // without a branch, which would be guessed wrong half of the time: kept is all ones or all zeros
            int kept = ~((words[wordAt + i] >>> 8) - threshold >> 31);
            int scaled = Float.floatToRawIntBits(x[xAt + i] * scale);
            out[outAt + i] = Float.intBitsToFloat(scaled & kept);
        }
    }

    @Override
    public void widen(DType half, short[] from, int fromAt, float[] to, int toAt, int n) {
        if (half == DType.BFLOAT16) {
            for (int i = 0; i < n; i++) {
                to[toAt + i] = HalfFloats.bfloat16ToFloat(from[fromAt + i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[toAt + i] = HalfFloats.float16ToFloat(from[fromAt + i]);
            }
        }
    }

    @Override
    public void narrow(DType half, float[] from, int fromAt, short[] to, int toAt, int n) {
        if (half == DType.BFLOAT16) {
            for (int i = 0; i < n; i++) {
                to[toAt + i] = HalfFloats.floatToBfloat16(from[fromAt + i]);
            }
        } else {
            for (int i = 0; i < n; i++) {
                to[toAt + i] = HalfFloats.floatToFloat16(from[fromAt + i]);
            }
        }
    }
}
