package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.NormKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Layer norm and RMS norm on a device against the CPU's. */
class NormKernelsTest {
    /** Sums of some thousand products, the mean's rounding multiplied by 1/deviation. */
    private static final double EPSILONS = 128;

    private static final double EPS = 1e-2;

    /** The last two: rows that registers do not hold, 32 KiB and more of them. */
    private static final int[][] ROWS = {
        {0, 4}, {1, 1}, {7, 3}, {5, 31}, {3, 64}, {2, 257}, {40, 1000}, {2, 4099}, {1, 8200}, {1, 17001}
    };

    private static NormKernels cpu() {
        return OnCuda.cpu().norm();
    }

    private static NormKernels cuda() {
        return OnCuda.device().norm();
    }

    /** Results of halves are rounded once by both, which can fall to either side. */
    private static double epsilons(DType dtype) {
        return dtype.isHalf() ? 1 : EPSILONS;
    }

    private static DType statistics(DType dtype) {
        return dtype == DType.FLOAT64 ? dtype : DType.FLOAT32;
    }

    private static @Nullable NdArray cpu(@Nullable Twin twin) {
        return twin == null ? null : twin.cpu();
    }

    private static @Nullable NdArray cuda(@Nullable Twin twin) {
        return twin == null ? null : twin.cuda();
    }

    /** The same on both, so that only the gradient's own rounding is compared. */
    private static Twin same(Twin twin) {
        return new Twin(twin.cpu(), OnCuda.to(OnCuda.device(), twin.cpu()));
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldNormalizeLayersAsTheCpuDoes(DType dtype) {
        Random random = new Random(1);
        int i = 0;
        for (int[] size : ROWS) {
            for (int options = size[1] > 4000 ? 3 : 0; options < 4; options++) {
                try (Scope scope = Scope.open()) {
                    Shape shape = Shape.of(size[0], size[1]);
                    Shape rows = Shape.of(size[0]);
                    Shape n = Shape.of(size[1]);
                    int offset = i++ % 5;
                    Twin x = Twin.random(dtype, random, offset, shape);
                    Twin weight = (options & 1) == 0 ? null : Twin.random(dtype, random, i % 2 * offset, n);
                    Twin bias = (options & 2) == 0 ? null : Twin.random(dtype, random, 1, n);
                    Twin out = Twin.result(dtype, i % 3 == 0 ? 1 : offset, shape);
                    Twin mean = Twin.result(statistics(dtype), 1, rows);
                    Twin rstd = Twin.result(statistics(dtype), 0, rows);
                    cpu().layerNorm(x.cpu(), cpu(weight), cpu(bias), EPS, out.cpu(), mean.cpu(), rstd.cpu());
                    cuda().layerNorm(x.cuda(), cuda(weight), cuda(bias), EPS, out.cuda(), mean.cuda(), rstd.cuda());
                    out.assertClose(epsilons(dtype));
                    mean.assertClose(EPSILONS);
                    rstd.assertClose(EPSILONS);

                    Twin dy = Twin.random(dtype, random, offset, shape);
                    Twin dx = (options & 1) == 0 || size[1] > 256 ? Twin.result(dtype, offset, shape) : null;
                    Twin dWeight = options == 2 ? null : Twin.result(dtype, 1, n);
                    Twin dBias = options == 1 ? null : Twin.result(dtype, 0, n);
                    mean = same(mean);
                    rstd = same(rstd);
                    cpu().layerNormGrad(
                                    x.cpu(),
                                    cpu(weight),
                                    mean.cpu(),
                                    rstd.cpu(),
                                    dy.cpu(),
                                    cpu(dx),
                                    cpu(dWeight),
                                    cpu(dBias));
                    cuda().layerNormGrad(
                                    x.cuda(),
                                    cuda(weight),
                                    mean.cuda(),
                                    rstd.cuda(),
                                    dy.cuda(),
                                    cuda(dx),
                                    cuda(dWeight),
                                    cuda(dBias));
                    for (Twin result : new Twin[] {dx, dWeight, dBias}) {
                        if (result != null) {
                            result.assertClose(epsilons(dtype));
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldNormalizeByRootMeanSquareAsTheCpuDoes(DType dtype) {
        Random random = new Random(2);
        int i = 0;
        for (int[] size : ROWS) {
            for (boolean scaled : new boolean[] {false, true}) {
                try (Scope scope = Scope.open()) {
                    Shape shape = Shape.of(size[0], size[1]);
                    Shape n = Shape.of(size[1]);
                    int offset = i++ % 5;
                    Twin x = Twin.random(dtype, random, offset, shape);
                    Twin weight = scaled ? Twin.random(dtype, random, 1, n) : null;
                    Twin out = Twin.result(dtype, offset, shape);
                    Twin rstd = Twin.result(statistics(dtype), 1, Shape.of(size[0]));
                    cpu().rmsNorm(x.cpu(), cpu(weight), EPS, out.cpu(), rstd.cpu());
                    cuda().rmsNorm(x.cuda(), cuda(weight), EPS, out.cuda(), rstd.cuda());
                    out.assertClose(epsilons(dtype));
                    rstd.assertClose(EPSILONS);

                    Twin dy = Twin.random(dtype, random, 2, shape);
                    Twin dx = Twin.result(dtype, offset, shape);
                    Twin dWeight = scaled ? Twin.result(dtype, 1, n) : null;
                    rstd = same(rstd);
                    cpu().rmsNormGrad(x.cpu(), cpu(weight), rstd.cpu(), dy.cpu(), dx.cpu(), cpu(dWeight));
                    cuda().rmsNormGrad(x.cuda(), cuda(weight), rstd.cuda(), dy.cuda(), dx.cuda(), cuda(dWeight));
                    dx.assertClose(epsilons(dtype));
                    if (dWeight != null) {
                        dWeight.assertClose(epsilons(dtype));
                    }
                }
            }
        }
    }

    /** E[x^2] - E[x]^2 of these numbers is 0 or negative in floats. */
    @Test
    void shouldKeepTheVarianceOfNumbersFarFromZero() {
        for (int n : new int[] {100, 20000}) {
            try (Scope scope = Scope.open()) {
                NdArray x = Twin.of(DType.FLOAT32, 1, Shape.of(1, n), 1e5, 1e5 + 0.5)
                        .cuda();
                NdArray out = Twin.result(DType.FLOAT32, 1, x.shape()).cuda();
                NdArray mean = Twin.result(DType.FLOAT32, 0, Shape.of(1)).cuda();
                NdArray rstd = Twin.result(DType.FLOAT32, 0, Shape.of(1)).cuda();
                cuda().layerNorm(x, null, null, 0, out, mean, rstd);
                assertThat(OnCuda.values(mean)[0]).isEqualTo(1e5 + 0.25);
                assertThat(OnCuda.values(rstd)[0]).isEqualTo(4);
                assertThat(OnCuda.values(out)).containsOnly(-1, 1);
            }
        }
    }

    /** In floats one after another the sum of 0.1 over 70000 rows is off by 3e-4 of it. */
    @Test
    void shouldSumWeightGradientsOverManyRows() {
        try (Scope scope = Scope.open()) {
            int rows = 70000;
            NdArray x = Twin.of(DType.FLOAT32, 0, Shape.of(rows, 4), 1, 2, 3, 4).cuda();
            NdArray dy = Twin.of(DType.FLOAT32, 0, Shape.of(rows, 4), 0.1f, 1e-4f, 3, 1e-7f)
                    .cuda();
            NdArray mean = Twin.of(DType.FLOAT32, 0, Shape.of(rows), 0).cuda();
            NdArray rstd = Twin.of(DType.FLOAT32, 0, Shape.of(rows), 1).cuda();
            NdArray dWeight = Twin.result(DType.FLOAT32, 0, Shape.of(4)).cuda();
            NdArray dBias = Twin.result(DType.FLOAT32, 0, Shape.of(4)).cuda();
            cuda().layerNormGrad(x, null, mean, rstd, dy, null, dWeight, dBias);
            float[] each = {0.1f, 1e-4f, 3, 1e-7f};
            for (int j = 0; j < 4; j++) {
                assertThat(OnCuda.values(dBias)[j]).isEqualTo((float) ((double) each[j] * rows));
                assertThat(OnCuda.values(dWeight)[j]).isEqualTo((float) ((double) (each[j] * (j + 1)) * rows));
            }
        }
    }

    @Test
    void shouldWriteTheGradientOverItsInputs() {
        Random random = new Random(3);
        for (int n : new int[] {20, 9000}) {
            try (Scope scope = Scope.open()) {
                Shape shape = Shape.of(2, n);
                NdArray x = Twin.random(DType.FLOAT32, random, 1, shape).cuda();
                NdArray dy = Twin.random(DType.FLOAT32, random, 1, shape).cuda();
                NdArray rstd = Twin.of(DType.FLOAT32, 0, Shape.of(2), 1.5, 0.5).cuda();
                NdArray[] dx = {Twin.result(DType.FLOAT32, 1, shape).cuda(), dy};
                NdArray[] dWeight = {
                    Twin.result(DType.FLOAT32, 0, Shape.of(n)).cuda(),
                    Twin.result(DType.FLOAT32, 0, Shape.of(n)).cuda()
                };
                for (int i = 0; i < 2; i++) {
                    cuda().rmsNormGrad(x, null, rstd, dy, dx[i], dWeight[i]);
                }
                assertThat(OnCuda.values(dx[1])).isEqualTo(OnCuda.values(dx[0]));
                assertThat(OnCuda.values(dWeight[1])).isEqualTo(OnCuda.values(dWeight[0]));
            }
        }
    }
}
