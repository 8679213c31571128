package org.tp4j.cpu.internal.kernels;

import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.memory.Runs;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.UnaryFunction;

/** Elementwise kernels of 64-bit floats: the reference's functions over plain arrays and broadcast runs. */
final class DoubleElementwise {
    private DoubleElementwise() {}

    private static double[] doubles(NdArray array) {
        return ((HostStorage) array.storage()).doubles();
    }

    static void unary(UnaryFunction function, NdArray x, NdArray out, double a, double b) {
        double[] from = doubles(x);
        double[] to = doubles(out);
        int xAt = (int) x.offset();
        int outAt = (int) out.offset();
        int n = (int) x.elements();
        for (int i = 0; i < n; i++) {
            to[outAt + i] = function.apply(from[xAt + i], a, b);
        }
    }

    /** For kernels that give numbers. */
    static void binary(BinaryFunction function, NdArray a, NdArray b, NdArray out) {
        double[] left = doubles(a);
        double[] right = doubles(b);
        double[] to = doubles(out);
        for (Runs runs = Runs.of(out.shape(), a.shape(), b.shape()); runs.more(); runs.next()) {
            int aAt = (int) a.offset() + runs.offset(0);
            int bAt = (int) b.offset() + runs.offset(1);
            int outAt = (int) out.offset() + runs.at();
            int aStep = runs.moves(0) ? 1 : 0;
            int bStep = runs.moves(1) ? 1 : 0;
            int n = runs.length();
            for (int i = 0; i < n; i++) {
                to[outAt + i] = function.apply(left[aAt + i * aStep], right[bAt + i * bStep]);
            }
        }
    }

    static void addScaled(double alpha, NdArray x, NdArray y) {
        double[] from = doubles(x);
        double[] to = doubles(y);
        int xAt = (int) x.offset();
        int yAt = (int) y.offset();
        int n = (int) x.elements();
        for (int i = 0; i < n; i++) {
            to[yAt + i] += alpha * from[xAt + i];
        }
    }
}
