package org.tp4j.cpu.internal.scalar;

import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.UnaryFunction;

/** The plain elementwise loops; the compiler makes vector instructions of them where all offsets are equal. */
final class Arithmetic {
    private Arithmetic() {}

    /** out = function(x; a, b). */
    static void unary(UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
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
            default -> define(function, x, xAt, out, outAt, n, a, b);
        }
    }

    /** Of a function without a loop of its own: its definition in 64 bits, rounded once. */
    private static void define(
            UnaryFunction function, float[] x, int xAt, float[] out, int outAt, int n, float a, float b) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = (float) function.apply((double) x[xAt + i], a, b);
        }
    }

    /** out = function(a, b). */
    static void binary(BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        switch (function) {
            case ADD -> add(a, aAt, b, bAt, out, outAt, n);
            case SUB -> sub(a, aAt, b, bAt, out, outAt, n);
            case MUL -> mul(a, aAt, b, bAt, out, outAt, n);
            case DIV -> div(a, aAt, b, bAt, out, outAt, n);
            case MAXIMUM -> maximum(a, aAt, b, bAt, out, outAt, n);
            case MINIMUM -> minimum(a, aAt, b, bAt, out, outAt, n);
            case SIGMOID_GRAD -> sigmoidGrad(a, aAt, b, bAt, out, outAt, n);
            case TANH_GRAD -> tanhGrad(a, aAt, b, bAt, out, outAt, n);
            default -> define(function, a, aAt, b, bAt, out, outAt, n);
        }
    }

    private static void define(
            BinaryFunction function, float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = (float) function.apply((double) a[aAt + i], b[bAt + i]);
        }
    }

    /** out = a · x. */
    static void scale(float a, float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = a * x[xAt + i];
        }
    }

    /** out = |x|. */
    static void abs(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = Math.abs(x[xAt + i]);
        }
    }

    /** out = √x. */
    static void sqrt(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = (float) Math.sqrt(x[xAt + i]);
        }
    }

    /** out = 1 / √x. */
    static void rsqrt(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = 1 / (float) Math.sqrt(x[xAt + i]);
        }
    }

    /** out = 1 / x. */
    static void reciprocal(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = 1 / x[xAt + i];
        }
    }

    /** out = max(x, 0). */
    static void relu(float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = Math.max(x[xAt + i], 0f);
        }
    }

    /** out = x + a. */
    static void shift(float a, float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = x[xAt + i] + a;
        }
    }

    /** out = min(max(x, low), high). */
    static void clamp(float low, float high, float[] x, int xAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = Math.min(Math.max(x[xAt + i], low), high);
        }
    }

    /** out = a + b. */
    static void add(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = a[aAt + i] + b[bAt + i];
        }
    }

    /** out = a - b. */
    static void sub(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = a[aAt + i] - b[bAt + i];
        }
    }

    /** out = a · b. */
    static void mul(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = a[aAt + i] * b[bAt + i];
        }
    }

    /** out = a / b. */
    static void div(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = a[aAt + i] / b[bAt + i];
        }
    }

    /** out = max(a, b). */
    static void maximum(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = Math.max(a[aAt + i], b[bAt + i]);
        }
    }

    /** out = min(a, b). */
    static void minimum(float[] a, int aAt, float[] b, int bAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = Math.min(a[aAt + i], b[bAt + i]);
        }
    }

    /** out = y (1 - y) dy. */
    static void sigmoidGrad(float[] y, int yAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = y[yAt + i] * (1 - y[yAt + i]) * dy[dyAt + i];
        }
    }

    /** out = (1 - y²) dy. */
    static void tanhGrad(float[] y, int yAt, float[] dy, int dyAt, float[] out, int outAt, int n) {
        for (int i = 0; i < n; i++) {
            out[outAt + i] = (1 - y[yAt + i] * y[yAt + i]) * dy[dyAt + i];
        }
    }
}
