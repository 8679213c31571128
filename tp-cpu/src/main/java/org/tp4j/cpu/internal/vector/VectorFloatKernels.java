package org.tp4j.cpu.internal.vector;

import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;
import static org.tp4j.cpu.internal.vector.VectorLoops.ACTIVATION;
import static org.tp4j.cpu.internal.vector.VectorLoops.ADAM;
import static org.tp4j.cpu.internal.vector.VectorLoops.ADD_PRODUCT;
import static org.tp4j.cpu.internal.vector.VectorLoops.ADD_ROWS;
import static org.tp4j.cpu.internal.vector.VectorLoops.ADD_SCALED;
import static org.tp4j.cpu.internal.vector.VectorLoops.AFFINE;
import static org.tp4j.cpu.internal.vector.VectorLoops.BINARY;
import static org.tp4j.cpu.internal.vector.VectorLoops.COUNT;
import static org.tp4j.cpu.internal.vector.VectorLoops.DOT;
import static org.tp4j.cpu.internal.vector.VectorLoops.EXP_SUM;
import static org.tp4j.cpu.internal.vector.VectorLoops.KEEP;
import static org.tp4j.cpu.internal.vector.VectorLoops.MAX;
import static org.tp4j.cpu.internal.vector.VectorLoops.NARROW_BFLOAT16;
import static org.tp4j.cpu.internal.vector.VectorLoops.NARROW_FLOAT16;
import static org.tp4j.cpu.internal.vector.VectorLoops.PHILOX;
import static org.tp4j.cpu.internal.vector.VectorLoops.PROJECT;
import static org.tp4j.cpu.internal.vector.VectorLoops.SUM;
import static org.tp4j.cpu.internal.vector.VectorLoops.SUM_SQUARES;
import static org.tp4j.cpu.internal.vector.VectorLoops.WIDEN_BFLOAT16;
import static org.tp4j.cpu.internal.vector.VectorLoops.WIDEN_FLOAT16;

import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.scalar.AdamStep;
import org.tp4j.cpu.internal.scalar.Philox;
import org.tp4j.cpu.internal.scalar.ScalarFloatKernels;
import org.tp4j.cpu.internal.scalar.Sums;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.UnaryFunction;

/**
 * {@link org.tp4j.cpu.internal.scalar.FloatKernels} with the Vector API: whole vectors by vector loops, once they are
 * {@linkplain Readiness ready}, and the rest by the scalar ones.
 */
@SuppressWarnings("EnumOrdinal") // numbers of loops, which nothing outside remembers
public final class VectorFloatKernels extends ScalarFloatKernels {
    /** Pieces shorter than this are left to the scalar loops. */
    private static final int SMALL = 64;

    /** Elements of scratch between two loops: two pieces fit into the first-level cache with what they come from. */
    private static final int PIECE = 1024;

    private final ThreadLocal<float[]> scratch = ThreadLocal.withInitial(() -> new float[2 * PIECE]);
    private final Readiness readiness;

    private VectorFloatKernels(Readiness readiness) {
        this.readiness = readiness;
    }

    /** Loops that take over from the scalar ones when they have been compiled in the background. */
    public static VectorFloatKernels warmedUpInTheBackground() {
        return new VectorFloatKernels(Readiness.inTheBackground(COUNT, VectorLoops::warmUps));
    }

    /** Loops that run from the first call on, slow until they have been compiled. */
    public static VectorFloatKernels atOnce() {
        return new VectorFloatKernels(Readiness.atOnce(COUNT));
    }

    @Override
    public String description() {
        String vectors = "Vector API, " + LANES + " floats per vector";
        return VectorLoops.isUseful() ? vectors : "scalar, for the " + vectors + " would not pay";
    }

    /** Of n elements, how many vector loop {@code id} should do. */
    private int whole(int id, int n) {
        return n >= SMALL && readiness.isReady(id, n) ? n & -LANES : 0;
    }

    /** Likewise for loops over whole blocks of sums. */
    private int wholeBlocks(int id, int n) {
        return n >= Sums.BLOCK && readiness.isReady(id, n) ? n & -Sums.BLOCK : 0;
    }

    @Override
    public void unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        if (function == UnaryFunction.EXP) {
            expSum(x, xAt, 0, out, outAt, n);
            return;
        }
        int whole = whole(function.ordinal(), n);
        if (whole > 0 && !VectorFunctions.unary(function, x, xAt, out, outAt, whole, a, b)) {
            whole = 0;
        }
        super.unary(function, x, xAt + whole, out, outAt + whole, n - whole, a, b);
    }

    @Override
    public void binary(BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (function) {
            case GELU_GRAD -> slopeTimes(Activation.GELU, a, aAt, b, bAt, out, outAt, n);
            case GELU_TANH_GRAD -> slopeTimes(Activation.GELU_TANH, a, aAt, b, bAt, out, outAt, n);
            case SILU_GRAD -> slopeTimes(Activation.SILU, a, aAt, b, bAt, out, outAt, n);
            default -> {
                int whole = whole(BINARY + function.ordinal(), n);
                if (whole > 0 && !VectorFunctions.binary(function, a, aAt, b, bAt, out, outAt, whole)) {
                    whole = 0;
                }
                super.binary(function, a, aAt + whole, b, bAt + whole, out, outAt + whole, n - whole);
            }
        }
    }

    /** out = activation'(x) · dy, a piece that stays in the cache at a time. */
    private void slopeTimes(
            Activation activation, float[] x, int xAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        if (n < SMALL) {
            super.binary(activation.gradient(), x, xAt, dy, dyAt, out, outAt, n);
            return;
        }
        float[] both = scratch.get();
        for (int i = 0; i < n; i += PIECE) {
            int length = Math.min(PIECE, n - i);
            activate(activation, x, xAt + i, both, 0, both, PIECE, length);
            binary(BinaryFunction.MUL, both, PIECE, dy, dyAt + i, out, outAt + i, length);
        }
    }

    @Override
    public void activate(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        int whole = whole(ACTIVATION + activation.ordinal(), n);
        if (whole > 0 && !VectorFunctions.activate(activation, x, xAt, value, valueAt, slope, slopeAt, whole)) {
            whole = 0;
        }
        super.activate(activation, x, xAt + whole, value, valueAt + whole, slope, slopeAt + whole, n - whole);
    }

    @Override
    public void addScaled(float alpha, float[] x, int xAt, float[] y, int yAt, int n) {
        int whole = whole(ADD_SCALED, n);
        if (whole > 0) {
            VectorArithmetic.addScaled(alpha, x, xAt, y, yAt, whole);
        }
        super.addScaled(alpha, x, xAt + whole, y, yAt + whole, n - whole);
    }

    @Override
    public void addProduct(float[] a, int aAt, float[] b, int bAt, float[] y, int yAt, int n) {
        int whole = whole(ADD_PRODUCT, n);
        if (whole > 0) {
            VectorArithmetic.addProduct(a, aAt, b, bAt, y, yAt, whole);
        }
        super.addProduct(a, aAt + whole, b, bAt + whole, y, yAt + whole, n - whole);
    }

    @Override
    public void addRows(float[] x, int at, int stride, int rows, float[] out, int outAt, int n) {
        int whole = rows < 8 ? 0 : whole(ADD_ROWS, n);
        if (whole > 0) {
            VectorRows.addRows(x, at, stride, out, outAt, whole);
        }
        super.addRows(x, at + whole, stride, rows, out, outAt + whole, n - whole);
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
        int whole = weight == null && bias != null ? 0 : whole(AFFINE, n);
        if (whole > 0) {
            VectorRows.affine(x, xAt, shift, scale, weight, weightAt, bias, biasAt, out, outAt, whole);
        }
        super.affine(
                x,
                xAt + whole,
                shift,
                scale,
                weight,
                weightAt + whole,
                bias,
                biasAt + whole,
                out,
                outAt + whole,
                n - whole);
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
        int whole = whole(PROJECT, n);
        if (whole > 0) {
            VectorRows.project(g, gAt, x, xAt, shift, slope, scale, out, outAt, whole);
        }
        super.project(g, gAt + whole, x, xAt + whole, shift, slope, scale, out, outAt + whole, n - whole);
    }

    @Override
    public void adam(
            AdamStep step, float[] w, int wAt, float[] g, int gAt, float[] m, int mAt, float[] v, int vAt, int n) {
        int whole = whole(ADAM, n);
        if (whole > 0) {
            VectorRows.adam(step, w, wAt, g, gAt, m, mAt, v, vAt, whole);
        }
        super.adam(step, w, wAt + whole, g, gAt + whole, m, mAt + whole, v, vAt + whole, n - whole);
    }

    @Override
    public double sum(float[] x, int at, int n) {
        double[] columns = Sums.columns();
        int whole = wholeBlocks(SUM, n);
        if (whole > 0) {
            VectorReductions.sum(x, at, whole, columns);
        }
        Sums.add(x, at + whole, n - whole, columns);
        return Sums.total(columns);
    }

    @Override
    public double sumSquares(float[] x, int at, float shift, int n) {
        double[] columns = Sums.columns();
        int whole = wholeBlocks(SUM_SQUARES, n);
        if (whole > 0) {
            VectorReductions.sumSquares(x, at, shift, whole, columns);
        }
        Sums.addSquares(x, at + whole, shift, n - whole, columns);
        return Sums.total(columns);
    }

    @Override
    public double dot(float[] x, int xAt, float[] y, int yAt, int n) {
        double[] columns = Sums.columns();
        int whole = wholeBlocks(DOT, n);
        if (whole > 0) {
            VectorReductions.dot(x, xAt, y, yAt, whole, columns);
        }
        Sums.addProducts(x, xAt + whole, y, yAt + whole, n - whole, columns);
        return Sums.total(columns);
    }

    @Override
    public float max(float[] x, int at, int n) {
        int whole = whole(MAX, n);
        if (whole == 0) {
            return super.max(x, at, n);
        }
        return Math.max(VectorReductions.max(x, at, whole), super.max(x, at + whole, n - whole));
    }

    @Override
    public double expSum(float[] x, int xAt, float shift, float[] out, int outAt, int n) {
        double[] columns = Sums.columns();
        int whole = whole(EXP_SUM, n) & -Sums.COLUMNS;
        if (whole > 0) {
            VectorReductions.exp(x, xAt, shift, out, outAt, whole, columns);
        }
        exp(x, xAt, shift, out, outAt, whole, n, columns);
        return Sums.total(columns);
    }

    @Override
    public void philox(long key, long counterLow, long counterHigh, int[] out, int blocks) {
        int whole = blocks * 4 >= SMALL && readiness.isReady(PHILOX, 4 * blocks) ? blocks & -VectorRandom.COUNTERS : 0;
        if (whole > 0) {
            VectorRandom.philox(key, counterLow, counterHigh, out, whole);
        }
        for (int i = whole; i < blocks; i++) {
            Philox.block(key, counterLow + i, counterHigh, out, 4 * i);
        }
    }

    @Override
    public void keep(
            int[] words, int wordAt, int threshold, float scale, float[] x, int xAt, float[] out, int outAt, int n) {
        int whole = whole(KEEP, n);
        if (whole > 0) {
            VectorRandom.keep(words, wordAt, threshold, scale, x, xAt, out, outAt, whole);
        }
        int rest = n - whole;
        super.keep(words, wordAt + whole, threshold, scale, x, xAt + whole, out, outAt + whole, rest);
    }

    @Override
    public void widen(DType half, short[] from, int fromAt, float[] to, int toAt, int n) {
        boolean bfloat16 = half == DType.BFLOAT16;
        int whole = whole(bfloat16 ? WIDEN_BFLOAT16 : WIDEN_FLOAT16, n);
        if (whole > 0 && bfloat16) {
            VectorHalves.widenBfloat16(from, fromAt, to, toAt, whole);
        } else if (whole > 0) {
            VectorHalves.widenFloat16(from, fromAt, to, toAt, whole);
        }
        super.widen(half, from, fromAt + whole, to, toAt + whole, n - whole);
    }

    @Override
    public void narrow(DType half, float[] from, int fromAt, short[] to, int toAt, int n) {
        boolean bfloat16 = half == DType.BFLOAT16;
        int whole = whole(bfloat16 ? NARROW_BFLOAT16 : NARROW_FLOAT16, n);
        if (whole > 0 && bfloat16) {
            VectorHalves.narrowBfloat16(from, fromAt, to, toAt, whole);
        } else if (whole > 0) {
            VectorHalves.narrowFloat16(from, fromAt, to, toAt, whole);
        }
        super.narrow(half, from, fromAt + whole, to, toAt + whole, n - whole);
    }
}
