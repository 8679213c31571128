package org.tp4j.cpu.internal.vector;

import static org.tp4j.cpu.internal.vector.VectorConstants.F;
import static org.tp4j.cpu.internal.vector.VectorConstants.LANES;
import static org.tp4j.cpu.internal.vector.VectorConstants.ONE;
import static org.tp4j.cpu.internal.vector.VectorConstants.ZERO;

import jdk.incubator.vector.FloatVector;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.UnaryFunction;

/**
 * Plain elementwise loops over a multiple of {@link VectorConstants#LANES} elements. The compiler makes vector instructions
 * of such loops by itself only where all arrays are read at the same offset, which windows and rows are not. No helper
 * methods, for the reason that {@link VectorFunctions} gives.
 */
final class VectorArithmetic {
    private VectorArithmetic() {}

    /** Runs the loop out = f(x; a, b) of a function that has one here; false if it has none. */
    static boolean unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        switch (function) {
            case NEG -> scale(-1, x, xAt, out, outAt, n);
            case ABS -> abs(x, xAt, out, outAt, n);
            case SQRT -> sqrt(x, xAt, out, outAt, n);
            case RSQRT -> rsqrt(x, xAt, out, outAt, n);
            case SQUARE -> mul(x, xAt, x, xAt, out, outAt, n);
            case RECIPROCAL -> reciprocal(x, xAt, out, outAt, n);
            case RELU -> relu(x, xAt, out, outAt, n);
            case SCALE -> scale(a, x, xAt, out, outAt, n);
            case SHIFT -> shift(a, x, xAt, out, outAt, n);
            case CLAMP -> clamp(a, b, x, xAt, out, outAt, n);
            default -> {
                return false;
            }
        }
        return true;
    }

    /** Runs the loop out = f(a, b) of a function that has one here; false if it has none. */
    static boolean binary(
            BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (function) {
            case ADD -> add(a, aAt, b, bAt, out, outAt, n);
            case SUB -> sub(a, aAt, b, bAt, out, outAt, n);
            case MUL -> mul(a, aAt, b, bAt, out, outAt, n);
            case DIV -> div(a, aAt, b, bAt, out, outAt, n);
            case MAXIMUM -> maximum(a, aAt, b, bAt, out, outAt, n);
            case MINIMUM -> minimum(a, aAt, b, bAt, out, outAt, n);
            case SIGMOID_GRAD -> sigmoidGrad(a, aAt, b, bAt, out, outAt, n);
            case TANH_GRAD -> tanhGrad(a, aAt, b, bAt, out, outAt, n);
            default -> {
                return false;
            }
        }
        return true;
    }

    static void abs(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, x, xAt + i).abs().intoArray(out, outAt + i);
        }
    }

    static void sqrt(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, x, xAt + i).sqrt().intoArray(out, outAt + i);
        }
    }

    static void rsqrt(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            ONE.div(FloatVector.fromArray(F, x, xAt + i).sqrt()).intoArray(out, outAt + i);
        }
    }

    static void reciprocal(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            ONE.div(FloatVector.fromArray(F, x, xAt + i)).intoArray(out, outAt + i);
        }
    }

    static void relu(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, x, xAt + i).max(ZERO).intoArray(out, outAt + i);
        }
    }

    static void scale(float a, float[] x, int xAt, float[] out, int outAt, int n) {
        FloatVector factor = FloatVector.broadcast(F, a);
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, x, xAt + i).mul(factor).intoArray(out, outAt + i);
        }
    }

    static void shift(float a, float[] x, int xAt, float[] out, int outAt, int n) {
        FloatVector term = FloatVector.broadcast(F, a);
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, x, xAt + i).add(term).intoArray(out, outAt + i);
        }
    }

    static void clamp(float low, float high, float[] x, int xAt, float[] out, int outAt, int n) {
        FloatVector least = FloatVector.broadcast(F, low);
        FloatVector most = FloatVector.broadcast(F, high);
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, x, xAt + i).max(least).min(most).intoArray(out, outAt + i);
        }
    }

    static void add(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, a, aAt + i)
                    .add(FloatVector.fromArray(F, b, bAt + i))
                    .intoArray(out, outAt + i);
        }
    }

    static void sub(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, a, aAt + i)
                    .sub(FloatVector.fromArray(F, b, bAt + i))
                    .intoArray(out, outAt + i);
        }
    }

    static void mul(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, a, aAt + i)
                    .mul(FloatVector.fromArray(F, b, bAt + i))
                    .intoArray(out, outAt + i);
        }
    }

    static void div(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, a, aAt + i)
                    .div(FloatVector.fromArray(F, b, bAt + i))
                    .intoArray(out, outAt + i);
        }
    }

    static void maximum(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, a, aAt + i)
                    .max(FloatVector.fromArray(F, b, bAt + i))
                    .intoArray(out, outAt + i);
        }
    }

    static void minimum(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, a, aAt + i)
                    .min(FloatVector.fromArray(F, b, bAt + i))
                    .intoArray(out, outAt + i);
        }
    }

    static void sigmoidGrad(float[] y, int yAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, y, yAt + i);
            v.mul(ONE.sub(v)).mul(FloatVector.fromArray(F, dy, dyAt + i)).intoArray(out, outAt + i);
        }
    }

    static void tanhGrad(float[] y, int yAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector v = FloatVector.fromArray(F, y, yAt + i);
            ONE.sub(v.mul(v)).mul(FloatVector.fromArray(F, dy, dyAt + i)).intoArray(out, outAt + i);
        }
    }

    static void addScaled(float alpha, float[] x, int xAt, float[] y, int yAt, int n) {
        FloatVector factor = FloatVector.broadcast(F, alpha);
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, y, yAt + i)
                    .add(FloatVector.fromArray(F, x, xAt + i).mul(factor))
                    .intoArray(y, yAt + i);
        }
    }

    static void addProduct(float[] a, int aAt, float[] b, int bAt, float[] y, int yAt, int n) {
        for (int i = 0; i < n; i += LANES) {
            FloatVector.fromArray(F, y, yAt + i)
                    .add(FloatVector.fromArray(F, a, aAt + i).mul(FloatVector.fromArray(F, b, bAt + i)))
                    .intoArray(y, yAt + i);
        }
    }
}
