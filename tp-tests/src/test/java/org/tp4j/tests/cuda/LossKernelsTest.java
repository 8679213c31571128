package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.LossKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Cross entropy, embedding look-up and its gradient on a device against the CPU's. */
class LossKernelsTest {
    /** Sums of some thousand numbers, and exponentials of up to 2 units in the last place. */
    private static final double EPSILONS = 64;

    private static LossKernels cpu() {
        return OnCuda.cpu().loss();
    }

    private static LossKernels cuda() {
        return OnCuda.device().loss();
    }

    private static DType statistics(DType dtype) {
        return dtype == DType.FLOAT64 ? dtype : DType.FLOAT32;
    }

    private static double epsilons(DType dtype) {
        return dtype.isHalf() ? 1 : EPSILONS;
    }

    private static CrossEntropyOptions smoothed(double smoothing) {
        return CrossEntropyOptions.DEFAULT.withLabelSmoothing(smoothing).withZLoss(smoothing / 2);
    }

    /** Loss, maximum and sum of each row. */
    private record Row(Twin loss, Twin max, Twin sum) {
        static Row of(DType wide, Shape rows) {
            return new Row(Twin.result(wide, 1, rows), Twin.result(wide, 0, rows), Twin.result(wide, 2, rows));
        }

        void assertClose() {
            loss.assertClose(EPSILONS);
            max.assertClose(0);
            sum.assertClose(EPSILONS);
        }

        /** The CPU's statistics on both. */
        Row same() {
            return new Row(loss, copied(max), copied(sum));
        }

        private static Twin copied(Twin twin) {
            return new Twin(twin.cpu(), OnCuda.to(OnCuda.device(), twin.cpu()));
        }
    }

    private static void crossEntropy(Twin logits, Twin labels, double smoothing, Row row) {
        CrossEntropyOptions options = smoothed(smoothing);
        cpu().crossEntropy(logits.cpu(), labels.cpu(), options, row.loss.cpu(), row.max.cpu(), row.sum.cpu());
        cuda().crossEntropy(logits.cuda(), labels.cuda(), options, row.loss.cuda(), row.max.cuda(), row.sum.cuda());
    }

    private static void crossEntropyGrad(
            Twin logits, Twin labels, double smoothing, Row row, Twin dLoss, Twin dLogits) {
        CrossEntropyOptions options = smoothed(smoothing);
        cpu().crossEntropyGrad(
                        logits.cpu(), labels.cpu(), options, row.max.cpu(), row.sum.cpu(), dLoss.cpu(), dLogits.cpu());
        cuda().crossEntropyGrad(
                        logits.cuda(),
                        labels.cuda(),
                        options,
                        row.max.cuda(),
                        row.sum.cuda(),
                        dLoss.cuda(),
                        dLogits.cuda());
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldComputeCrossEntropyAndItsGradientAsTheCpuDoes(DType dtype) {
        Random random = new Random(1);
        DType wide = statistics(dtype);
        int i = 0;
        for (int n : new int[] {1, 3, 31, 257, 1000, 4099, 50001}) {
            for (double smoothing : new double[] {0, 0.1}) {
                try (Scope scope = Scope.open()) {
                    int rows = n > 10000 ? 1 : 5;
                    Shape shape = Shape.of(rows);
                    Twin logits = Twin.random(dtype, random, i++ % 5, Shape.of(rows, n));
                    DType ids = i % 2 == 0 ? DType.INT32 : DType.INT64;
                    Twin labels = Twin.of(ids, 1, shape, n - 1, -100, 0, n / 2, -100);
                    Row row = Row.of(wide, shape);
                    crossEntropy(logits, labels, smoothing, row);
                    row.assertClose();

                    Twin dLoss = Twin.random(wide, random, 1, shape);
                    Twin dLogits = Twin.result(dtype, i % 3, logits.shape());
                    crossEntropyGrad(logits, labels, smoothing, row.same(), dLoss, dLogits);
                    dLogits.assertClose(epsilons(dtype));
                    if (rows > 1) {
                        assertThat(OnCuda.values(dLogits.cuda().window(n, Shape.of(n))))
                                .as("gradient of the ignored row")
                                .containsOnly(0);
                    }
                }
            }
        }
    }

    @Test
    void shouldIgnoreRowsWhateverTheyHold() {
        try (Scope scope = Scope.open()) {
            Twin logits = Twin.of(DType.FLOAT32, 1, Shape.of(2, 3), Double.NaN, 1, Double.POSITIVE_INFINITY, 1, 2, 3);
            Twin labels = Twin.of(DType.INT64, 0, Shape.of(2), -100, 1);
            Row row = Row.of(DType.FLOAT32, Shape.of(2));
            crossEntropy(logits, labels, 0.1, row);
            row.loss.assertClose(EPSILONS);
            Twin dLoss = Twin.of(DType.FLOAT32, 0, Shape.of(2), Double.NaN, 1);
            Twin dLogits = Twin.result(DType.FLOAT32, 0, logits.shape());
            crossEntropyGrad(logits, labels, 0.1, row, dLoss, dLogits);
            dLogits.assertClose(EPSILONS);
            assertThat(OnCuda.values(dLogits.cuda())).startsWith(0, 0, 0);
        }
    }

    @Test
    void shouldStayFiniteForHugeLogitsAndGiveNanForUndefinedOnes() {
        double inf = Double.POSITIVE_INFINITY;
        try (Scope scope = Scope.open()) {
            Twin logits = Twin.of(
                    DType.FLOAT32,
                    0,
                    Shape.of(5, 3),
                    1e5,
                    -1e5,
                    0,
                    3e38,
                    -3e38,
                    0,
                    -inf,
                    5,
                    -inf,
                    -inf,
                    -inf,
                    -inf,
                    1,
                    inf,
                    2);
            Twin labels = Twin.of(DType.INT32, 1, Shape.of(5), 2, 0, 1, 1, 1);
            Row row = Row.of(DType.FLOAT32, Shape.of(5));
            crossEntropy(logits, labels, 0, row);
            row.assertClose();
            assertThat(OnCuda.values(row.loss.cuda())).startsWith(1e5, 0, 0).endsWith(Double.NaN, Double.NaN);
            Twin dLogits = Twin.result(DType.FLOAT32, 0, logits.shape());
            crossEntropyGrad(logits, labels, 0, row, Twin.of(DType.FLOAT32, 0, Shape.of(5), 1), dLogits);
            dLogits.assertClose(EPSILONS);
        }
    }

    @Test
    void shouldWriteTheGradientOverTheLogits() {
        Random random = new Random(3);
        for (int n : new int[] {7, 1000, 20000}) {
            try (Scope scope = Scope.open()) {
                Twin logits = Twin.random(DType.FLOAT32, random, 1, Shape.of(2, n));
                Twin labels = Twin.of(DType.INT64, 0, Shape.of(2), n - 1, 0);
                Row row = Row.of(DType.FLOAT32, Shape.of(2));
                Twin dLogits = Twin.result(DType.FLOAT32, 1, logits.shape());
                crossEntropy(logits, labels, 0, row);
                crossEntropyGrad(logits, labels, 0, row, row.loss, dLogits);
                double[] apart = OnCuda.values(dLogits.cuda());
                crossEntropyGrad(logits, labels, 0, row, row.loss, logits);
                assertThat(OnCuda.values(logits.cuda())).isEqualTo(apart);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldLookRowsUpAsTheCpuDoes(DType dtype) {
        Random random = new Random(4);
        for (int n : new int[] {1, 3, 31, 64, 257, 4099}) {
            for (DType wide : new DType[] {DType.INT32, DType.INT64}) {
                try (Scope scope = Scope.open()) {
                    Twin table = Twin.random(dtype, random, n % 4, Shape.of(5, n));
                    Twin ids = Twin.of(wide, 2, Shape.of(2, 4), 10, 14, 9, 15, 12, 10, 10, 13);
                    Twin out = Twin.result(dtype, n % 3, Shape.of(2, 4, n));
                    cpu().gatherRows(table.cpu(), ids.cpu(), 10, out.cpu());
                    cuda().gatherRows(table.cuda(), ids.cuda(), 10, out.cuda());
                    out.assertClose(0);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldAddRowsUpAsTheCpuDoes(DType dtype) {
        Random random = new Random(5);
        for (int rows : new int[] {1, 5, 40, 700}) {
            for (int count : new int[] {0, 1, 9, 33, 200}) {
                try (Scope scope = Scope.open()) {
                    int n = rows % 2 == 0 ? 37 : 64;
                    double[] drawn = random.ints(count + 1, 90, 110 + rows)
                            .asDoubleStream()
                            .toArray();
                    Twin ids = Twin.of(rows == 5 ? DType.INT32 : DType.INT64, 1, Shape.of(count), drawn);
                    Twin dy = Twin.random(dtype, random, 1, Shape.of(count, n));
                    Twin table = Twin.random(dtype, random, 3, Shape.of(rows, n));
                    cpu().scatterAddRows(dy.cpu(), ids.cpu(), 100, 102, table.cpu());
                    cuda().scatterAddRows(dy.cuda(), ids.cuda(), 100, 102, table.cuda());
                    table.assertClose(0, 8);
                }
            }
        }
    }

    /** One after another in bfloat16, 1 added up a thousand times is 256. */
    @Test
    void shouldRoundSumsOfHalfRowsOnce() {
        try (Scope scope = Scope.open()) {
            NdArray ids = Twin.of(DType.INT32, 0, Shape.of(1000), 3).cuda();
            NdArray dy = Twin.of(DType.BFLOAT16, 0, Shape.of(1000, 8), 1).cuda();
            NdArray table = Twin.of(DType.BFLOAT16, 0, Shape.of(4, 8), 0).cuda();
            cuda().scatterAddRows(dy, ids, 0, Long.MIN_VALUE, table);
            assertThat(OnCuda.values(table.window(24, Shape.of(8)))).containsOnly(1000);
            assertThat(OnCuda.values(table.window(0, Shape.of(24)))).containsOnly(0);
        }
    }

    @Test
    void shouldFindTheFirstIdOutside() {
        for (DType dtype : new DType[] {DType.INT32, DType.INT64}) {
            try (Scope scope = Scope.open()) {
                NdArray ids = Twin.of(dtype, 1, Shape.of(5), 0, 4, -100, 5, 7).cuda();
                assertThat(cuda().firstOutside(ids, 0, 5, -100)).isEqualTo(3);
                assertThat(cuda().firstOutside(ids, 0, 5, 9)).isEqualTo(2);
                assertThat(cuda().firstOutside(ids, 0, 8, -100)).isEqualTo(-1);
                assertThat(cuda().firstOutside(ids.window(0, Shape.of(0)), 5, 5, 0))
                        .isEqualTo(-1);
                for (int at : new int[] {0, 1, 255, 256, 6000, 9999}) {
                    double[] values = new double[10000];
                    values[at] = 9;
                    values[9999] = -1;
                    NdArray many = Twin.of(dtype, 1, Shape.of(10000), values).cuda();
                    assertThat(cuda().firstOutside(many, 0, 5, Long.MIN_VALUE)).isEqualTo(at);
                }
            }
        }
    }
}
