package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tp4j.cpu.internal.kernels.TestArrays.assertClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.copyOf;
import static org.tp4j.cpu.internal.kernels.TestArrays.filled;
import static org.tp4j.cpu.internal.kernels.TestArrays.of;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;
import static org.tp4j.cpu.internal.kernels.TestArrays.window;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.reference.ReferenceLoss;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Embedding look-up and cross entropy against the reference. */
class LossTest {
    private static final double EPSILONS = 32;
    private static final DType[] FLOATS = {DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, DType.FLOAT64};

    private final ReferenceLoss reference = new ReferenceLoss();

    static Stream<FloatKernels> loops() {
        return TestArrays.floatKernels();
    }

    private static double tolerance(DType dtype) {
        return dtype.isHalf() ? 1 : dtype == DType.FLOAT64 ? 0 : EPSILONS;
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldLookUpAndScatterRowsLikeTheReference(FloatKernels loops) {
        LossKernels fast = new CpuLoss(loops, TestArrays.poisonedPool());
        Random random = new Random(1);
        for (DType dtype : FLOATS) {
            for (DType ids : new DType[] {DType.INT32, DType.INT64}) {
                NdArray table = random(dtype, random, 3, Shape.of(5, 70));
                NdArray index = of(ids, 2, Shape.of(2, 4), 10, 14, 9, 15, 12, 10, 10, 13);
                NdArray out = window(dtype, 1, Shape.of(2, 4, 70));
                NdArray expected = window(dtype, 1, Shape.of(2, 4, 70));
                fast.gatherRows(table, index, 10, out);
                reference.gatherRows(table, index, 10, expected);
                assertClose(out, expected, 0);
                NdArray dTable = random(dtype, random, 2, Shape.of(5, 70));
                NdArray expectedTable = copyOf(dTable);
                fast.scatterAddRows(out, index, 10, 13, dTable);
                reference.scatterAddRows(out, index, 10, 13, expectedTable);
                assertClose(dTable, expectedTable, tolerance(dtype));
            }
        }
    }

    /** Rounded after each addition, 1 added up a thousand times is 256 in bfloat16. */
    @Test
    void shouldRoundSumsOfHalfRowsOnce() {
        NdArray ids = of(DType.INT32, 0, Shape.of(1000), new double[1000]);
        double[] ones = new double[2000];
        java.util.Arrays.fill(ones, 1);
        NdArray dy = of(DType.BFLOAT16, 0, Shape.of(1000, 2), ones);
        for (LossKernels kernels : List.of(CpuBackend.get().loss(), new ReferenceLoss())) {
            NdArray table = of(DType.BFLOAT16, 0, Shape.of(2, 2), 0, 0, 0, 0);
            kernels.scatterAddRows(dy, ids, 0, Long.MIN_VALUE, table);
            assertClose(table, of(DType.BFLOAT16, 0, Shape.of(2, 2), 1000, 1000, 0, 0), 0);
        }
    }

    @Test
    void shouldFindTheFirstIdOutside() {
        LossKernels fast = CpuBackend.get().loss();
        NdArray ids = of(DType.INT64, 1, Shape.of(5), 0, 4, -100, 5, 7);
        assertThat(fast.firstOutside(ids, 0, 5, -100)).isEqualTo(3);
        assertThat(fast.firstOutside(ids, 0, 5, 9)).isEqualTo(2);
        assertThat(fast.firstOutside(ids, 0, 8, -100)).isEqualTo(-1);
    }

    /** Memory for loss, maximum and sum of rows. */
    private static NdArray[] rowStatistics(DType wide, int rows) {
        return new NdArray[] {
            window(wide, 1, Shape.of(rows)), window(wide, 0, Shape.of(rows)), window(wide, 2, Shape.of(rows))
        };
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldComputeCrossEntropyLikeTheReference(FloatKernels loops) {
        LossKernels fast = new CpuLoss(loops, TestArrays.poisonedPool());
        Random random = new Random(2);
        for (DType dtype : FLOATS) {
            DType wide = dtype == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
            for (int n : new int[] {2, 10, 64, 1000}) {
                for (double smoothing : new double[] {0, 0.1}) {
                    NdArray logits = random(dtype, random, 1, Shape.of(4, n));
                    NdArray labels = of(DType.INT64, 0, Shape.of(4), 1, -100, n - 1, 0);
                    NdArray dLoss = random(wide, random, 1, Shape.of(4));
                    CrossEntropyOptions options = CrossEntropyOptions.DEFAULT
                            .withLabelSmoothing(smoothing)
                            .withZLoss(smoothing / 2);
                    NdArray[] got = rowStatistics(wide, 4);
                    NdArray[] expected = rowStatistics(wide, 4);
                    fast.crossEntropy(logits, labels, options, got[0], got[1], got[2]);
                    reference.crossEntropy(logits, labels, options, expected[0], expected[1], expected[2]);
                    for (int i = 0; i < got.length; i++) {
                        assertClose(got[i], expected[i], wide == DType.FLOAT64 ? 0 : EPSILONS);
                    }
                    NdArray dLogits = window(dtype, 2, Shape.of(4, n));
                    NdArray expectedGrad = window(dtype, 2, Shape.of(4, n));
                    fast.crossEntropyGrad(logits, labels, options, expected[1], expected[2], dLoss, dLogits);
                    reference.crossEntropyGrad(logits, labels, options, expected[1], expected[2], dLoss, expectedGrad);
                    assertClose(dLogits, expectedGrad, tolerance(dtype));
                    assertClose(dLogits.window(n, Shape.of(n)), filled(dtype, Shape.of(n), 0), 0);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldStayFiniteForHugeLogits(FloatKernels loops) {
        LossKernels fast = new CpuLoss(loops, TestArrays.poisonedPool());
        NdArray logits = of(DType.FLOAT32, 0, Shape.of(2, 3), 1e5, -1e5, 0, 3e38, -3e38, 0);
        NdArray labels = of(DType.INT64, 0, Shape.of(2), 2, 0);
        NdArray[] row = rowStatistics(DType.FLOAT32, 2);
        CrossEntropyOptions options = CrossEntropyOptions.DEFAULT;
        fast.crossEntropy(logits, labels, options, row[0], row[1], row[2]);
        assertClose(row[0], of(DType.FLOAT32, 0, Shape.of(2), 1e5, 0), 0);
        NdArray dLogits = window(DType.FLOAT32, 0, Shape.of(2, 3));
        NdArray one = filled(DType.FLOAT32, Shape.of(2), 1);
        fast.crossEntropyGrad(logits, labels, options, row[1], row[2], one, dLogits);
        assertClose(dLogits, of(DType.FLOAT32, 0, Shape.of(2, 3), 1, 0, -1, 0, 0, 0), 0);
    }
}
