package org.tp4j.cpu.vector;

import static org.tp4j.cpu.vector.VectorConstants.LANES;

import jdk.incubator.vector.IntVector;
import org.jspecify.annotations.Nullable;
import org.tp4j.cpu.internal.AdamStep;
import org.tp4j.cpu.internal.ScalarFloatKernels;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryKernel;
import org.tp4j.tensor.UnaryKernel;

/**
 * {@link org.tp4j.cpu.internal.FloatKernels} with the Vector API. The last elements, fewer than a vector has lanes, are
 * computed as a vector too, so that an element's result does not depend on where it stands.
 */
public final class VectorFloatKernels extends ScalarFloatKernels {
    /** Pieces shorter than this are left to the scalar loops, which need no warming up. */
    private static final int SMALL = 64;

    /** Elements of scratch between two loops: two pieces fit into the first-level cache with what they come from. */
    private static final int PIECE = 1024;

    private final ThreadLocal<float[]> scratch = ThreadLocal.withInitial(() -> new float[2 * PIECE]);

    /** The loops. */
    public VectorFloatKernels() {}

    /**
     * Whether vectors pay on this machine: they have at least eight lanes of 32 bits, or it is an ARM. Those have fused
     * multiply-add, which is very slow where the processor has not.
     */
    public static boolean isUseful() {
        return IntVector.SPECIES_PREFERRED.length() >= 8
                || System.getProperty("os.arch", "").equals("aarch64");
    }

    @Override
    public String description() {
        return "Vector API, " + LANES + " floats a vector";
    }

    @Override
    public void unary(UnaryKernel kernel, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        switch (kernel) {
            case EXP, SIGMOID, TANH, GELU, GELU_TANH, SILU -> {
                int whole = n & -LANES;
                loop(kernel, x, xAt, out, outAt, whole);
                int rest = n - whole;
                if (rest > 0) {
                    float[] tail = new float[LANES];
                    System.arraycopy(x, xAt + whole, tail, 0, rest);
                    loop(kernel, tail, 0, tail, 0, LANES);
                    System.arraycopy(tail, 0, out, outAt + whole, rest);
                }
            }
            case LOG, NOT -> super.unary(kernel, x, xAt, out, outAt, n, a, b);
            default -> {
                int whole = n < SMALL ? 0 : n & -LANES;
                arithmetic(kernel, x, xAt, out, outAt, whole, a, b);
                super.unary(kernel, x, xAt + whole, out, outAt + whole, n - whole, a, b);
            }
        }
    }

    private static void arithmetic(
            UnaryKernel kernel, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        switch (kernel) {
            case NEG -> VectorArithmetic.scale(-1, x, xAt, out, outAt, n);
            case ABS -> VectorArithmetic.abs(x, xAt, out, outAt, n);
            case SQRT -> VectorArithmetic.sqrt(x, xAt, out, outAt, n);
            case RSQRT -> VectorArithmetic.rsqrt(x, xAt, out, outAt, n);
            case SQUARE -> VectorArithmetic.mul(x, xAt, x, xAt, out, outAt, n);
            case RECIPROCAL -> VectorArithmetic.reciprocal(x, xAt, out, outAt, n);
            case RELU -> VectorArithmetic.relu(x, xAt, out, outAt, n);
            case SCALE -> VectorArithmetic.scale(a, x, xAt, out, outAt, n);
            case SHIFT -> VectorArithmetic.shift(a, x, xAt, out, outAt, n);
            default -> VectorArithmetic.clamp(a, b, x, xAt, out, outAt, n);
        }
    }

    private static void loop(UnaryKernel kernel, float[] x, int xAt, float[] out, int outAt, int n) {
        switch (kernel) {
            case EXP -> VectorReductions.expSum(x, xAt, 0, out, outAt, n);
            case SIGMOID -> VectorFunctions.sigmoid(x, xAt, out, outAt, n);
            case TANH -> VectorFunctions.tanh(x, xAt, out, outAt, n);
            case GELU -> VectorFunctions.gelu(x, xAt, out, outAt, n);
            case GELU_TANH -> VectorFunctions.geluTanh(x, xAt, out, outAt, n);
            default -> VectorFunctions.silu(x, xAt, out, outAt, n);
        }
    }

    @Override
    public void binary(BinaryKernel kernel, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (kernel) {
            case GELU_GRAD -> slopeTimes(Activation.GELU, a, aAt, b, bAt, out, outAt, n);
            case GELU_TANH_GRAD -> slopeTimes(Activation.GELU_TANH, a, aAt, b, bAt, out, outAt, n);
            case SILU_GRAD -> slopeTimes(Activation.SILU, a, aAt, b, bAt, out, outAt, n);
            default -> {
                int whole = n < SMALL ? 0 : n & -LANES;
                arithmetic(kernel, a, aAt, b, bAt, out, outAt, whole);
                super.binary(kernel, a, aAt + whole, b, bAt + whole, out, outAt + whole, n - whole);
            }
        }
    }

    /** out = activation'(x) · dy, a piece that stays in the cache at a time. */
    private void slopeTimes(
            Activation activation, float[] x, int xAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        float[] both = scratch.get();
        for (int i = 0; i < n; i += PIECE) {
            int length = Math.min(PIECE, n - i);
            activate(activation, x, xAt + i, both, 0, both, PIECE, length);
            binary(BinaryKernel.MUL, both, PIECE, dy, dyAt + i, out, outAt + i, length);
        }
    }

    private static void arithmetic(
            BinaryKernel kernel, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (kernel) {
            case ADD -> VectorArithmetic.add(a, aAt, b, bAt, out, outAt, n);
            case SUB -> VectorArithmetic.sub(a, aAt, b, bAt, out, outAt, n);
            case MUL -> VectorArithmetic.mul(a, aAt, b, bAt, out, outAt, n);
            case DIV -> VectorArithmetic.div(a, aAt, b, bAt, out, outAt, n);
            case MAXIMUM -> VectorArithmetic.maximum(a, aAt, b, bAt, out, outAt, n);
            case MINIMUM -> VectorArithmetic.minimum(a, aAt, b, bAt, out, outAt, n);
            case SIGMOID_GRAD -> VectorArithmetic.sigmoidGrad(a, aAt, b, bAt, out, outAt, n);
            case RELU_GRAD -> VectorFunctions.reluGrad(a, aAt, b, bAt, out, outAt, n);
            case TANH_GRAD -> VectorArithmetic.tanhGrad(a, aAt, b, bAt, out, outAt, n);
            default -> throw new IllegalArgumentException(kernel + " is not arithmetic on floats");
        }
    }

    @Override
    public void activate(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        int whole = n & -LANES;
        loop(activation, x, xAt, value, valueAt, slope, slopeAt, whole);
        int rest = n - whole;
        if (rest > 0) {
            float[] tail = new float[2 * LANES];
            System.arraycopy(x, xAt + whole, tail, 0, rest);
            loop(activation, tail, 0, tail, 0, tail, LANES, LANES);
            System.arraycopy(tail, 0, value, valueAt + whole, rest);
            System.arraycopy(tail, LANES, slope, slopeAt + whole, rest);
        }
    }

    private static void loop(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        switch (activation) {
            case RELU -> VectorFunctions.reluBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            case GELU -> VectorFunctions.geluBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            case GELU_TANH -> VectorFunctions.geluTanhBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            case SILU -> VectorFunctions.siluBoth(x, xAt, value, valueAt, slope, slopeAt, n);
        }
    }

    @Override
    public void addScaled(float alpha, float[] x, int xAt, float[] y, int yAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorArithmetic.addScaled(alpha, x, xAt, y, yAt, whole);
        super.addScaled(alpha, x, xAt + whole, y, yAt + whole, n - whole);
    }

    @Override
    public void addProduct(float[] a, int aAt, float[] b, int bAt, float[] y, int yAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorArithmetic.addProduct(a, aAt, b, bAt, y, yAt, whole);
        super.addProduct(a, aAt + whole, b, bAt + whole, y, yAt + whole, n - whole);
    }

    @Override
    public void addRows(float[] x, int at, int stride, int rows, float[] out, int outAt, int n) {
        int whole = n < SMALL || rows < 8 ? 0 : n & -LANES;
        VectorRows.addRows(x, at, stride, out, outAt, whole);
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
        int whole = n < SMALL || weight == null && bias != null ? 0 : n & -LANES;
        VectorRows.affine(x, xAt, shift, scale, weight, weightAt, bias, biasAt, out, outAt, whole);
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
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorRows.project(g, gAt, x, xAt, shift, slope, scale, out, outAt, whole);
        super.project(g, gAt + whole, x, xAt + whole, shift, slope, scale, out, outAt + whole, n - whole);
    }

    @Override
    public void adam(
            AdamStep step, float[] w, int wAt, float[] g, int gAt, float[] m, int mAt, float[] v, int vAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorRows.adam(step, w, wAt, g, gAt, m, mAt, v, vAt, whole);
        super.adam(step, w, wAt + whole, g, gAt + whole, m, mAt + whole, v, vAt + whole, n - whole);
    }

    @Override
    public double sum(float[] x, int at, int n) {
        int whole = n - n % VectorReductions.BLOCK;
        return VectorReductions.sum(x, at, whole) + super.sum(x, at + whole, n - whole);
    }

    @Override
    public double sumSquares(float[] x, int at, float shift, int n) {
        int whole = n - n % VectorReductions.BLOCK;
        return VectorReductions.sumSquares(x, at, shift, whole) + super.sumSquares(x, at + whole, shift, n - whole);
    }

    @Override
    public double dot(float[] x, int xAt, float[] y, int yAt, int n) {
        int whole = n - n % VectorReductions.BLOCK;
        return VectorReductions.dot(x, xAt, y, yAt, whole) + super.dot(x, xAt + whole, y, yAt + whole, n - whole);
    }

    @Override
    public float max(float[] x, int at, int n) {
        int whole = n & -LANES;
        return Math.max(VectorReductions.max(x, at, whole), super.max(x, at + whole, n - whole));
    }

    @Override
    public double expSum(float[] x, int xAt, float shift, float[] out, int outAt, int n) {
        int whole = n & -LANES;
        double sum = VectorReductions.expSum(x, xAt, shift, out, outAt, whole);
        int rest = n - whole;
        if (rest > 0) {
            float[] tail = new float[LANES];
            System.arraycopy(x, xAt + whole, tail, 0, rest);
            VectorReductions.expSum(tail, 0, shift, tail, 0, LANES);
            System.arraycopy(tail, 0, out, outAt + whole, rest);
            for (int i = 0; i < rest; i++) {
                sum += tail[i];
            }
        }
        return sum;
    }

    @Override
    public void widenBfloat16(short[] from, int fromAt, float[] to, int toAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorHalves.widenBfloat16(from, fromAt, to, toAt, whole);
        super.widenBfloat16(from, fromAt + whole, to, toAt + whole, n - whole);
    }

    @Override
    public void narrowBfloat16(float[] from, int fromAt, short[] to, int toAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorHalves.narrowBfloat16(from, fromAt, to, toAt, whole);
        super.narrowBfloat16(from, fromAt + whole, to, toAt + whole, n - whole);
    }

    @Override
    public void widenFloat16(short[] from, int fromAt, float[] to, int toAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorHalves.widenFloat16(from, fromAt, to, toAt, whole);
        super.widenFloat16(from, fromAt + whole, to, toAt + whole, n - whole);
    }

    @Override
    public void narrowFloat16(float[] from, int fromAt, short[] to, int toAt, int n) {
        int whole = n < SMALL ? 0 : n & -LANES;
        VectorHalves.narrowFloat16(from, fromAt, to, toAt, whole);
        super.narrowFloat16(from, fromAt + whole, to, toAt + whole, n - whole);
    }
}
