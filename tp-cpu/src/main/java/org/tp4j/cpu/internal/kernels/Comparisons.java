package org.tp4j.cpu.internal.kernels;

import org.tp4j.tensor.BinaryFunction;

/** Comparisons of floats; a step of 0 compares with a single number. */
final class Comparisons {
    private Comparisons() {}

    static void compare(
            BinaryFunction function,
            float[] a,
            int aAt,
            int aStep,
            float[] b,
            int bAt,
            int bStep,
            byte[] out,
            int outAt,
            int n) {
        switch (function) {
            case EQ -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = (byte) (a[aAt + i * aStep] == b[bAt + i * bStep] ? 1 : 0);
                }
            }
            case NE -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = (byte) (a[aAt + i * aStep] != b[bAt + i * bStep] ? 1 : 0);
                }
            }
            case LT -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = (byte) (a[aAt + i * aStep] < b[bAt + i * bStep] ? 1 : 0);
                }
            }
            case LE -> {
                for (int i = 0; i < n; i++) {
                    out[outAt + i] = (byte) (a[aAt + i * aStep] <= b[bAt + i * bStep] ? 1 : 0);
                }
            }
            case GT -> compare(BinaryFunction.LT, b, bAt, bStep, a, aAt, aStep, out, outAt, n);
            case GE -> compare(BinaryFunction.LE, b, bAt, bStep, a, aAt, aStep, out, outAt, n);
            default -> throw new IllegalArgumentException(function + " does not compare floats");
        }
    }
}
