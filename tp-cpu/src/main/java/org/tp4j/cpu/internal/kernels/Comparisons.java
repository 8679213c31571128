package org.tp4j.cpu.internal.kernels;

import org.tp4j.tensor.BinaryKernel;

/** Comparisons of floats; a step of 0 compares with one number throughout. */
final class Comparisons {
    private Comparisons() {}

    static void compare(
            BinaryKernel kernel,
            float[] a,
            int aAt,
            int aStep,
            float[] b,
            int bAt,
            int bStep,
            byte[] out,
            int outAt,
            int n) {
        switch (kernel) {
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
            case GT -> compare(BinaryKernel.LT, b, bAt, bStep, a, aAt, aStep, out, outAt, n);
            case GE -> compare(BinaryKernel.LE, b, bAt, bStep, a, aAt, aStep, out, outAt, n);
            default -> throw new IllegalArgumentException(kernel + " does not compare floats");
        }
    }
}
