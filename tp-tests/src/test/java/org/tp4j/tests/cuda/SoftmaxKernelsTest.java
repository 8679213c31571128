package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Softmax and its gradient on a device against the CPU's. */
class SoftmaxKernelsTest {
    /** Sums of some thousand numbers, and exponentials of up to 2 units in the last place. */
    private static final double EPSILONS = 64;

    /** In 64 bits the CPU adds 17000 numbers one after another. */
    private static final double EPSILONS_OF_DOUBLES = 1024;

    /** The last two: rows that registers do not hold, 32 KiB and more of them. */
    private static final int[][] ROWS = {
        {0, 4}, {3, 0}, {1, 1}, {7, 3}, {5, 31}, {2, 257}, {3, 1000}, {2, 4099}, {1, 8200}, {1, 17001}
    };

    private static ReductionKernels cpu() {
        return OnCuda.cpu().reduction();
    }

    private static ReductionKernels cuda() {
        return OnCuda.device().reduction();
    }

    /** Results of halves are rounded once by both, which can fall to either side. */
    private static double epsilons(DType dtype) {
        return dtype.isHalf() ? 1 : dtype == DType.FLOAT64 ? EPSILONS_OF_DOUBLES : EPSILONS;
    }

    private static void softmax(Twin x, boolean logarithm, Twin out) {
        cpu().softmax(x.cpu(), logarithm, out.cpu());
        cuda().softmax(x.cuda(), logarithm, out.cuda());
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldComputeSoftmaxAndItsGradientAsTheCpuDoes(DType dtype) {
        Random random = new Random(1);
        int i = 0;
        for (int[] size : ROWS) {
            for (boolean logarithm : new boolean[] {false, true}) {
                try (Scope scope = Scope.open()) {
                    Shape shape = Shape.of(size[0], size[1]);
                    int offset = i++ % 5;
                    Twin x = Twin.random(dtype, random, offset, shape);
                    Twin out = Twin.result(dtype, i % 3 == 0 ? offset + 1 : offset, shape);
                    softmax(x, logarithm, out);
                    // each element of a softmax is good on its own, however small
                    out.assertClose(epsilons(dtype), logarithm ? 1 : 0);

                    Twin y = new Twin(out.cpu(), OnCuda.to(OnCuda.device(), out.cpu()));
                    Twin dy = Twin.random(dtype, random, i % 4, shape);
                    Twin dx = Twin.result(dtype, 1, shape);
                    cpu().softmaxGrad(y.cpu(), dy.cpu(), logarithm, dx.cpu());
                    cuda().softmaxGrad(y.cuda(), dy.cuda(), logarithm, dx.cuda());
                    dx.assertClose(epsilons(dtype) * 4);
                }
            }
        }
    }

    @Test
    void shouldWriteOverItsOwnInput() {
        Random random = new Random(2);
        for (int n : new int[] {5, 300, 9000}) {
            for (boolean logarithm : new boolean[] {false, true}) {
                try (Scope scope = Scope.open()) {
                    Shape shape = Shape.of(3, n);
                    NdArray x = Twin.random(DType.FLOAT32, random, 1, shape).cuda();
                    NdArray out = Twin.result(DType.FLOAT32, 1, shape).cuda();
                    cuda().softmax(x, logarithm, out);
                    cuda().softmax(x, logarithm, x);
                    assertThat(OnCuda.values(x)).isEqualTo(OnCuda.values(out));

                    NdArray dy = Twin.random(DType.FLOAT32, random, 1, shape).cuda();
                    NdArray dx = Twin.result(DType.FLOAT32, 1, shape).cuda();
                    cuda().softmaxGrad(x, dy, logarithm, dx);
                    cuda().softmaxGrad(x, dy, logarithm, dy);
                    assertThat(OnCuda.values(dy)).isEqualTo(OnCuda.values(dx));
                }
            }
        }
    }

    @Test
    void shouldTreatMaskedHugeAndUndefinedLogitsAsTheCpuDoes() {
        double inf = Double.POSITIVE_INFINITY;
        double[][] rows = {
            {3e38, 3e38, -3e38},
            {-inf, 5, -inf},
            {-inf, -inf, -inf},
            {inf, 1, 2},
            {Double.NaN, 1, 2},
            {1e-40, -1e-40, 0},
            {88, 89, -104}
        };
        for (DType dtype : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16}) {
            for (double[] row : rows) {
                for (int n : new int[] {3, 300, 16500}) {
                    for (boolean logarithm : new boolean[] {false, true}) {
                        try (Scope scope = Scope.open()) {
                            Twin x = Twin.of(dtype, 1, Shape.of(1, n), row);
                            Twin out = Twin.result(dtype, 1, x.shape());
                            softmax(x, logarithm, out);
                            out.assertClose(epsilons(dtype), logarithm ? 1 : 0);
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldTakeAScalarForARowOfOne() {
        try (Scope scope = Scope.open()) {
            Twin x = Twin.of(DType.FLOAT32, 1, Shape.scalar(), 5);
            Twin out = Twin.result(DType.FLOAT32, 0, Shape.scalar());
            softmax(x, false, out);
            out.assertClose(0);
        }
    }
}
