package org.tp4j.cpu.internal.kernels;

/** out = condition ? a : b over one run of arrays of one type, float, int or short; a step of 0 stays at one element. */
final class WhereLoops {
    private WhereLoops() {}

    static void choose(
            byte[] condition,
            int at,
            int step,
            Object a,
            int aAt,
            int aStep,
            Object b,
            int bAt,
            int bStep,
            Object out,
            int outAt,
            int n) {
        if (out instanceof float[] to) {
            float[] left = (float[]) a;
            float[] right = (float[]) b;
            for (int i = 0; i < n; i++) {
                float first = left[aAt + i * aStep];
                float second = right[bAt + i * bStep];
                to[outAt + i] = condition[at + i * step] != 0 ? first : second;
            }
        } else if (out instanceof int[] to) {
            int[] left = (int[]) a;
            int[] right = (int[]) b;
            for (int i = 0; i < n; i++) {
                to[outAt + i] = condition[at + i * step] != 0 ? left[aAt + i * aStep] : right[bAt + i * bStep];
            }
        } else {
            short[] left = (short[]) a;
            short[] right = (short[]) b;
            short[] to = (short[]) out;
            for (int i = 0; i < n; i++) {
                to[outAt + i] = condition[at + i * step] != 0 ? left[aAt + i * aStep] : right[bAt + i * bStep];
            }
        }
    }
}
