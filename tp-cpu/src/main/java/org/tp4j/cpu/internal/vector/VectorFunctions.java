package org.tp4j.cpu.internal.vector;

import static jdk.incubator.vector.VectorOperators.GT;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LT;
import static org.tp4j.cpu.internal.scalar.ScalarMath.EXP_LIMIT;
import static org.tp4j.cpu.internal.scalar.ScalarMath.GELU_LIMIT;
import static org.tp4j.cpu.internal.scalar.ScalarMath.ONE_BITS;
import static org.tp4j.cpu.internal.scalar.ScalarMath.TANH_LIMIT;
import static org.tp4j.cpu.internal.scalar.ScalarMath.TANH_NEAR;
import static org.tp4j.cpu.internal.vector.VectorConstants.C1;
import static org.tp4j.cpu.internal.vector.VectorConstants.C2;
import static org.tp4j.cpu.internal.vector.VectorConstants.E2;
import static org.tp4j.cpu.internal.vector.VectorConstants.E3;
import static org.tp4j.cpu.internal.vector.VectorConstants.E4;
import static org.tp4j.cpu.internal.vector.VectorConstants.E5;
import static org.tp4j.cpu.internal.vector.VectorConstants.E6;
import static org.tp4j.cpu.internal.vector.VectorConstants.F;
import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;
import static org.tp4j.cpu.internal.vector.VectorConstants.LN2_HIGH;
import static org.tp4j.cpu.internal.vector.VectorConstants.LN2_LOW;
import static org.tp4j.cpu.internal.vector.VectorConstants.LOG2_E;
import static org.tp4j.cpu.internal.vector.VectorConstants.M0;
import static org.tp4j.cpu.internal.vector.VectorConstants.M1;
import static org.tp4j.cpu.internal.vector.VectorConstants.M2;
import static org.tp4j.cpu.internal.vector.VectorConstants.M3;
import static org.tp4j.cpu.internal.vector.VectorConstants.M4;
import static org.tp4j.cpu.internal.vector.VectorConstants.M5;
import static org.tp4j.cpu.internal.vector.VectorConstants.M6;
import static org.tp4j.cpu.internal.vector.VectorConstants.M7;
import static org.tp4j.cpu.internal.vector.VectorConstants.M8;
import static org.tp4j.cpu.internal.vector.VectorConstants.MILLS_C;
import static org.tp4j.cpu.internal.vector.VectorConstants.MINUS_HALF;
import static org.tp4j.cpu.internal.vector.VectorConstants.MINUS_INV_SQRT_2PI;
import static org.tp4j.cpu.internal.vector.VectorConstants.MINUS_TWO;
import static org.tp4j.cpu.internal.vector.VectorConstants.ONE;
import static org.tp4j.cpu.internal.vector.VectorConstants.ROUNDER;
import static org.tp4j.cpu.internal.vector.VectorConstants.T11;
import static org.tp4j.cpu.internal.vector.VectorConstants.T3;
import static org.tp4j.cpu.internal.vector.VectorConstants.T5;
import static org.tp4j.cpu.internal.vector.VectorConstants.T7;
import static org.tp4j.cpu.internal.vector.VectorConstants.T9;
import static org.tp4j.cpu.internal.vector.VectorConstants.THREE_C2;
import static org.tp4j.cpu.internal.vector.VectorConstants.ZERO;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import org.tp4j.cpu.internal.scalar.ScalarMath;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.UnaryFunction;

/**
 * One loop per function, over a multiple of {@link VectorConstants#LANES} elements. The formulas and the letters are those
 * of {@link ScalarMath}; v is x.
 *
 * <p>The loops repeat each other's lines on purpose: a vector that crosses a call which is not inlined becomes an object
 * and the loop several times slower, and the compiler gives up inlining helpers in code of this size (it always inlines
 * the Vector API itself).
 */
final class VectorFunctions {
    private VectorFunctions() {}

    /** Runs the vector loop out = f(x; a, b) of a function that has one; false if it has none. */
    static boolean unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        switch (function) {
            case SIGMOID -> sigmoid(x, xAt, out, outAt, n);
            case TANH -> tanh(x, xAt, out, outAt, n);
            case GELU -> gelu(x, xAt, out, outAt, n);
            case GELU_TANH -> geluTanh(x, xAt, out, outAt, n);
            case SILU -> silu(x, xAt, out, outAt, n);
            default -> {
                return VectorArithmetic.unary(function, x, xAt, out, outAt, n, a, b);
            }
        }
        return true;
    }

    /** Runs the vector loop out = f(a, b) of a function that has one; false if it has none. */
    static boolean binary(
            BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        if (function == BinaryFunction.RELU_GRAD) {
            reluGrad(a, aAt, b, bAt, out, outAt, n);
            return true;
        }
        return VectorArithmetic.binary(function, a, aAt, b, bAt, out, outAt, n);
    }

    /** Runs the vector loop for an activation and its slope, if it has one; false if it has none. */
    static boolean activate(
            Activation activation, float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        switch (activation) {
            case RELU -> reluBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            case GELU -> geluBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            case GELU_TANH -> geluTanhBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            case SILU -> siluBoth(x, xAt, value, valueAt, slope, slopeAt, n);
            default -> {
                return false;
            }
        }
        return true;
    }

    static void sigmoid(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(EXP_LIMIT, m.compare(GT, EXP_LIMIT));
            FloatVector z = a.neg();
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            ONE.blend(e, v.compare(LT, 0f)).div(e.add(ONE)).intoArray(out, outAt + i);
        }
    }

    /** By a polynomial for small arguments, where 1 - e^-2a would cancel. */
    static void tanh(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(TANH_LIMIT, m.compare(GT, TANH_LIMIT));
            FloatVector z = a.mul(MINUS_TWO);
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            FloatVector far = ONE.sub(e).div(e.add(ONE));
            FloatVector s = a.mul(a);
            FloatVector near =
                    s.fma(T11, T9).fma(s, T7).fma(s, T5).fma(s, T3).mul(s).fma(a, a);
            FloatVector both = far.blend(near, a.compare(LT, TANH_NEAR));
            both.blend(both.neg(), v.compare(LT, 0f)).intoArray(out, outAt + i);
        }
    }

    static void gelu(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(GELU_LIMIT, m.compare(GT, GELU_LIMIT));
            FloatVector half = a.mul(MINUS_HALF);
            FloatVector z = a.mul(half);
            FloatVector error = a.fma(half, z.neg());
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z)).add(error);
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            FloatVector t = ONE.div(a.fma(MILLS_C, ONE));
            FloatVector mills = t.fma(M8, M7).fma(t, M6).fma(t, M5).fma(t, M4);
            mills = mills.fma(t, M3).fma(t, M2).fma(t, M1).fma(t, M0).mul(t);
            v.blend(ZERO, v.compare(LT, 0f)).sub(a.mul(e.mul(mills))).intoArray(out, outAt + i);
        }
    }

    static void geluBoth(float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(GELU_LIMIT, m.compare(GT, GELU_LIMIT));
            FloatVector half = a.mul(MINUS_HALF);
            FloatVector z = a.mul(half);
            FloatVector error = a.fma(half, z.neg());
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z)).add(error);
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            FloatVector t = ONE.div(a.fma(MILLS_C, ONE));
            FloatVector mills = t.fma(M8, M7).fma(t, M6).fma(t, M5).fma(t, M4);
            mills = mills.fma(t, M3).fma(t, M2).fma(t, M1).fma(t, M0).mul(t);
            v.blend(ZERO, v.compare(LT, 0f)).sub(a.mul(e.mul(mills))).intoArray(value, valueAt + i);
            FloatVector d = e.mul(a.fma(MINUS_INV_SQRT_2PI, mills));
            ONE.sub(d).blend(d, v.compare(LT, 0f)).intoArray(slope, slopeAt + i);
        }
    }

    static void geluTanh(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(GELU_LIMIT, m.compare(GT, GELU_LIMIT));
            FloatVector u = a.mul(a.mul(a).fma(C2, C1));
            FloatVector z = u.blend(EXP_LIMIT, u.compare(GT, EXP_LIMIT)).neg();
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            v.blend(ZERO, v.compare(LT, 0f))
                    .sub(a.mul(e.mul(ONE.div(e.add(ONE)))))
                    .intoArray(out, outAt + i);
        }
    }

    static void geluTanhBoth(float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(GELU_LIMIT, m.compare(GT, GELU_LIMIT));
            FloatVector u = a.mul(a.mul(a).fma(C2, C1));
            FloatVector z = u.blend(EXP_LIMIT, u.compare(GT, EXP_LIMIT)).neg();
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            FloatVector r1 = ONE.div(e.add(ONE));
            FloatVector q = e.mul(r1);
            v.blend(ZERO, v.compare(LT, 0f)).sub(a.mul(q)).intoArray(value, valueAt + i);
            FloatVector d = q.sub(q.mul(r1).mul(a).mul(a.mul(a).fma(THREE_C2, C1)));
            ONE.sub(d).blend(d, v.compare(LT, 0f)).intoArray(slope, slopeAt + i);
        }
    }

    static void silu(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(EXP_LIMIT, m.compare(GT, EXP_LIMIT));
            FloatVector z = a.neg();
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            v.blend(ZERO, v.compare(LT, 0f))
                    .sub(a.mul(e.mul(ONE.div(e.add(ONE)))))
                    .intoArray(out, outAt + i);
        }
    }

    static void siluBoth(float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            FloatVector m = v.abs();
            FloatVector a = m.blend(EXP_LIMIT, m.compare(GT, EXP_LIMIT));
            FloatVector z = a.neg();
            FloatVector rounded = z.fma(LOG2_E, ROUNDER);
            FloatVector k = rounded.sub(ROUNDER);
            FloatVector r = k.fma(LN2_LOW, k.fma(LN2_HIGH, z));
            FloatVector p = r.fma(E6, E5)
                    .fma(r, E4)
                    .fma(r, E3)
                    .fma(r, E2)
                    .mul(r)
                    .fma(r, r)
                    .add(ONE);
            IntVector scale = rounded.reinterpretAsInts().lanewise(LSHL, 23).add(ONE_BITS);
            FloatVector e = p.mul(scale.reinterpretAsFloats());
            FloatVector r1 = ONE.div(e.add(ONE));
            FloatVector q = e.mul(r1);
            v.blend(ZERO, v.compare(LT, 0f)).sub(a.mul(q)).intoArray(value, valueAt + i);
            FloatVector d = q.sub(q.mul(r1).mul(a));
            ONE.sub(d).blend(d, v.compare(LT, 0f)).intoArray(slope, slopeAt + i);
        }
    }

    static void reluBoth(float[] x, int xAt, float[] value, int valueAt, float[] slope, int slopeAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            v.max(ZERO).intoArray(value, valueAt + i);
            ZERO.blend(ONE, v.compare(GT, 0f)).intoArray(slope, slopeAt + i);
        }
    }

    static void reluGrad(float[] x, int xAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, x, xAt + i);
            ZERO.blend(FloatVector.fromArray(F, dy, dyAt + i), v.compare(GT, 0f))
                    .intoArray(out, outAt + i);
        }
    }
}
