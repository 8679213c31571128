package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Products of every transposition, type, stride and alpha/beta against the CPU's. */
class GemmTest {
    private static final int[][] SIZES = {{1, 1, 1}, {3, 5, 7}, {16, 8, 32}, {17, 33, 9}, {1, 19, 4}, {2, 3, 0}};

    static Stream<Arguments> cases() {
        Stream.Builder<Arguments> cases = Stream.builder();
        for (DType type : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16}) {
            for (int t = 0; t < 4; t++) {
                for (int[] size : SIZES) {
                    cases.add(Arguments.of(type, (t & 1) != 0, (t & 2) != 0, size));
                }
            }
        }
        return cases.build();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void shouldMultiplyAsTheCpuDoes(DType type, boolean ta, boolean tb, int[] size) {
        try (Scope scope = Scope.open()) {
            for (int batch : new int[] {1, 3}) {
                for (double beta : new double[] {0, 1, -0.5}) {
                    double[] onCpu = run(OnCuda.cpu(), type, type, ta, tb, size, batch, beta);
                    double[] onCuda = run(OnCuda.device(), type, type, ta, tb, size, batch, beta);
                    assertClose(onCuda, onCpu, tolerance(type));
                }
            }
        }
    }

    @Test
    void shouldSumHalvesIntoFloats() {
        try (Scope scope = Scope.open()) {
            int[] size = {9, 13, 21};
            double[] onCpu = run(OnCuda.cpu(), DType.BFLOAT16, DType.FLOAT32, true, false, size, 1, 1);
            double[] onCuda = run(OnCuda.device(), DType.BFLOAT16, DType.FLOAT32, true, false, size, 1, 1);
            assertClose(onCuda, onCpu, 1e-5);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldRoundOnceHoweverLongTheSum(boolean transposed) {
        try (Scope scope = Scope.open()) {
            int k = 512;
            double[] terms = new double[k]; // 256 * 300 is beyond float16, the whole sum is 600
            Arrays.fill(terms, 0, k / 2, 300);
            Arrays.fill(terms, k / 2, k - 2, -300);
            double[] ones = new double[k];
            Arrays.fill(ones, 1);
            NdArray a = OnCuda.of(OnCuda.device(), DType.FLOAT16, Shape.of(k), terms);
            NdArray b = OnCuda.of(OnCuda.device(), DType.FLOAT16, Shape.of(k), ones);
            NdArray c = NdArray.allocate(OnCuda.device(), DType.FLOAT16, Shape.of(1));
            OnCuda.device().gemm().gemm(transposed, transposed, 1, 1, k, 1, a, k, b, k, 0, c, 1, 1);
            assertThat(OnCuda.values(c)).containsExactly(600);
        }
    }

    /** Inputs begin one element into their memory, as windows do. */
    private static double[] run(
            Backend backend, DType in, DType out, boolean ta, boolean tb, int[] size, int batch, double beta) {
        int m = size[0];
        int n = size[1];
        int k = size[2];
        Random random = new Random(7);
        NdArray a = random(backend, in, (long) m * k * batch + 1, random).window(1, Shape.of((long) m * k * batch));
        NdArray b =
                random(backend, in, (long) k * n + 1, random).window(1, Shape.of((long) k * n)); // one for the batch
        NdArray c = random(backend, out, (long) m * n * batch, random);
        backend.gemm().gemm(ta, tb, m, n, k, 1.5, a, (long) m * k, b, 0, beta, c, (long) m * n, batch);
        return OnCuda.values(c);
    }

    private static NdArray random(Backend backend, DType type, long elements, Random random) {
        double[] values = random.doubles(elements, -1, 1).toArray();
        return OnCuda.of(backend, type, Shape.of(elements), values);
    }

    private static double tolerance(DType type) {
        return switch (type) {
            case FLOAT64 -> 1e-14;
            case FLOAT32 -> 1e-5;
            case FLOAT16 -> 1e-2;
            default -> 6e-2;
        };
    }

    private static void assertClose(double[] actual, double[] expected, double tolerance) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < actual.length; i++) {
            int element = i;
            assertThat(actual[i])
                    .as(() -> "element " + element + " of " + Arrays.toString(expected)) // written if it fails
                    .isCloseTo(expected[i], within(tolerance));
        }
    }
}
