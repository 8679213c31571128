package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tp4j.cpu.internal.kernels.TestArrays.assertClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.filled;
import static org.tp4j.cpu.internal.kernels.TestArrays.of;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;
import static org.tp4j.cpu.internal.kernels.TestArrays.window;

import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.reference.ReferenceNorm;
import org.tp4j.cpu.internal.reference.ReferenceReduction;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.ReductionKernels.Kind;
import org.tp4j.tensor.Shape;

/** Reductions, softmax and norms against the reference, for scalar and vector loops. */
class RowsTest {
    /** Sums of up to 2000 numbers whose partial sums of eight are floats. */
    private static final double EPSILONS = 64;

    private static final DType[] FLOATS = {DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, DType.FLOAT64};
    private static final int[][] ROWS = {{1, 1}, {3, 5}, {7, 16}, {2, 130}, {5, 64}, {19, 33}, {3, 1000}, {0, 4}};

    private final ReferenceReduction reference = new ReferenceReduction();

    static Stream<FloatKernels> loops() {
        return TestArrays.floatKernels();
    }

    private static double tolerance(DType dtype) {
        return dtype.isHalf() ? 1 : dtype == DType.FLOAT64 ? 0 : EPSILONS;
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldReduceLikeTheReference(FloatKernels loops) {
        ReductionKernels fast = new CpuReduction(loops, TestArrays.poisonedPool());
        Random random = new Random(1);
        long[][] shapes = {
            {}, {1}, {7}, {2000}, {3, 5}, {20, 70}, {17, 130}, {2, 3, 4}, {4, 1, 5}, {2, 9, 66}, {0, 3}, {3, 0}
        };
        for (DType dtype : DType.values()) {
            for (long[] sizes : shapes) {
                for (int mask = 0; mask < 1 << sizes.length; mask++) {
                    for (Kind kind : Kind.values()) {
                        boolean[] reduced = new boolean[sizes.length];
                        long kept = 1;
                        for (int d = 0; d < sizes.length; d++) {
                            reduced[d] = (mask >> d & 1) != 0;
                            kept *= reduced[d] ? 1 : sizes[d];
                        }
                        NdArray x = random(dtype, random, 3, Shape.of(sizes));
                        DType to = dtype.isHalf() && mask % 2 == 0 ? DType.FLOAT32 : dtype;
                        NdArray out = window(to, 1, Shape.of(kept));
                        NdArray expected = window(to, 1, Shape.of(kept));
                        fast.reduce(kind, x, reduced, out);
                        reference.reduce(kind, x, reduced, expected);
                        TestArrays.assertRelativelyClose(
                                out, expected, kind == Kind.SUM ? 1e4 : to.isHalf() ? 1 : EPSILONS);
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldSumWithoutLosingSmallNumbers(FloatKernels loops) {
        ReductionKernels fast = new CpuReduction(loops, TestArrays.poisonedPool());
        int n = 1 << 20;
        NdArray x = filled(DType.FLOAT32, Shape.of(n), 0.1);
        NdArray out = window(DType.FLOAT32, 0, Shape.scalar());
        fast.reduce(Kind.SUM, x, new boolean[] {true}, out);
        assertThat(ElementAccess.of(out).get(0)).isEqualTo((float) (n * (double) 0.1f));
        NdArray columns = window(DType.FLOAT32, 0, Shape.of(2));
        fast.reduce(Kind.SUM, x.reshape(Shape.of(n / 2, 2)), new boolean[] {true, false}, columns);
        assertThat(ElementAccess.of(columns).get(1)).isEqualTo((float) (n / 2 * (double) 0.1f));
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldLetNanThroughExtremes(FloatKernels loops) {
        ReductionKernels fast = new CpuReduction(loops, TestArrays.poisonedPool());
        for (int at : new int[] {0, 5, 69}) {
            NdArray x = random(DType.FLOAT32, new Random(at), 0, Shape.of(70));
            ElementAccess.of(x).set(at, Double.NaN);
            for (Kind kind : new Kind[] {Kind.MAX, Kind.MIN, Kind.MAX_ABS}) {
                NdArray out = window(DType.FLOAT32, 0, Shape.scalar());
                fast.reduce(kind, x, new boolean[] {true}, out);
                assertThat(ElementAccess.of(out).get(0)).isNaN();
            }
            NdArray index = window(DType.INT64, 0, Shape.scalar());
            fast.argmax(x, index);
            assertThat(ElementAccess.of(index).getLong(0)).isEqualTo(at);
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldFindTheFirstLargest(FloatKernels loops) {
        ReductionKernels fast = new CpuReduction(loops, TestArrays.poisonedPool());
        for (DType dtype : DType.values()) {
            NdArray x = of(dtype, 2, Shape.of(3, 4), 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1);
            NdArray out = window(DType.INT64, 1, Shape.of(3));
            fast.argmax(x, out);
            assertClose(out, of(DType.INT64, 1, Shape.of(3), 1, 0, 0), 0);
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldComputeSoftmaxLikeTheReference(FloatKernels loops) {
        ReductionKernels fast = new CpuReduction(loops, TestArrays.poisonedPool());
        Random random = new Random(2);
        for (DType dtype : FLOATS) {
            for (int[] size : ROWS) {
                for (boolean logarithm : new boolean[] {false, true}) {
                    Shape shape = Shape.of(size[0], size[1]);
                    NdArray x = random(dtype, random, 1, shape);
                    NdArray dy = random(dtype, random, 2, shape);
                    NdArray out = window(dtype, 0, shape);
                    NdArray expected = window(dtype, 0, shape);
                    fast.softmax(x, logarithm, out);
                    reference.softmax(x, logarithm, expected);
                    assertClose(out, expected, tolerance(dtype));
                    NdArray y = TestArrays.copyOf(expected);
                    fast.softmaxGrad(y, dy, logarithm, out);
                    reference.softmaxGrad(y, dy, logarithm, expected);
                    assertClose(out, expected, tolerance(dtype) * 4);
                    fast.softmaxGrad(y, dy, logarithm, dy);
                    assertClose(dy, out, 0);
                    fast.softmax(x, logarithm, out);
                    fast.softmax(x, logarithm, x);
                    assertClose(x, out, 0);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldKeepSoftmaxOfHugeAndMaskedLogitsFinite(FloatKernels loops) {
        ReductionKernels fast = new CpuReduction(loops, TestArrays.poisonedPool());
        double none = Double.NEGATIVE_INFINITY;
        NdArray x = of(DType.FLOAT32, 0, Shape.of(2, 3), 3e38, 3e38, -3e38, none, 5, none);
        NdArray out = window(DType.FLOAT32, 0, x.shape());
        fast.softmax(x, false, out);
        assertClose(out, of(DType.FLOAT32, 0, x.shape(), 0.5, 0.5, 0, 0, 1, 0), 0);
        fast.softmax(x, true, out);
        double half = -Math.log(2);
        assertThat(ElementAccess.of(out).get(0)).isEqualTo((float) half);
        assertThat(ElementAccess.of(out).get(3)).isEqualTo(none);
        assertThat(ElementAccess.of(out).get(4)).isZero();
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldNormalizeLikeTheReference(FloatKernels loops) {
        CpuNorm fast = new CpuNorm(loops, TestArrays.poisonedPool());
        ReferenceNorm plain = new ReferenceNorm();
        Random random = new Random(3);
        for (DType dtype : FLOATS) {
            DType wide = dtype == DType.FLOAT64 ? DType.FLOAT64 : DType.FLOAT32;
            for (int[] size : ROWS) {
                for (int options = 0; options < 8; options++) {
                    Shape shape = Shape.of(size[0], size[1]);
                    Shape rows = Shape.of(size[0]);
                    Shape n = Shape.of(size[1]);
                    NdArray x = random(dtype, random, 1, shape);
                    NdArray dy = random(dtype, random, 2, shape);
                    NdArray weight = (options & 1) != 0 ? random(dtype, random, 3, n) : null;
                    NdArray bias = (options & 2) != 0 ? random(dtype, random, 0, n) : null;
                    NdArray[] got = results(dtype, wide, shape, rows, n);
                    NdArray[] expected = results(dtype, wide, shape, rows, n);
                    boolean gradients = (options & 4) != 0;
                    double close = tolerance(dtype);
                    fast.layerNorm(x, weight, bias, 1e-2, got[0], got[1], got[2]);
                    plain.layerNorm(x, weight, bias, 1e-2, expected[0], expected[1], expected[2]);
                    check(got, expected, 3, dtype, close);
                    // the same statistics for both, so that only the gradients' own rounding is compared
                    NdArray mean = expected[1];
                    NdArray rstd = expected[2];
                    NdArray dx = gradients ? got[0] : null;
                    fast.layerNormGrad(x, weight, mean, rstd, dy, dx, got[3], gradients ? got[4] : null);
                    plain.layerNormGrad(x, weight, mean, rstd, dy, expected[0], expected[3], expected[4]);
                    if (gradients) {
                        check(got, expected, 5, dtype, close * 8);
                    } else {
                        assertClose(got[3], expected[3], close * 8);
                    }
                    fast.rmsNorm(x, weight, 1e-2, got[0], got[2]);
                    plain.rmsNorm(x, weight, 1e-2, expected[0], expected[2]);
                    check(new NdArray[] {got[0], got[2]}, new NdArray[] {expected[0], expected[2]}, 2, dtype, close);
                    fast.rmsNormGrad(x, weight, rstd, dy, got[0], gradients ? got[3] : null);
                    plain.rmsNormGrad(x, weight, rstd, dy, expected[0], expected[3]);
                    assertClose(got[0], expected[0], close * 8);
                    if (gradients) {
                        assertClose(got[3], expected[3], close * 8);
                    }
                }
            }
        }
    }

    private static NdArray[] results(DType dtype, DType wide, Shape shape, Shape rows, Shape n) {
        return new NdArray[] {
            window(dtype, 1, shape),
            window(wide, 2, rows),
            window(wide, 0, rows),
            window(dtype, 4, n),
            window(dtype, 0, n)
        };
    }

    private static void check(NdArray[] got, NdArray[] expected, int count, DType dtype, double close) {
        for (int i = 0; i < count; i++) {
            boolean statistic = got[i].dtype() != dtype;
            assertClose(got[i], expected[i], statistic ? EPSILONS : close);
        }
    }
}
