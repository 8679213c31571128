package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tp4j.cpu.internal.kernels.TestArrays.assertClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.copyOf;
import static org.tp4j.cpu.internal.kernels.TestArrays.filled;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;

import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.blas.Blas;
import org.tp4j.cpu.internal.blas.NetlibBlas;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reference.ReferenceGemm;
import org.tp4j.cpu.internal.scalar.ScalarFloatKernels;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.GemmKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Products by BLAS against the definition. */
class GemmTest {
    /** Rounding of sums of up to 70 products of numbers around 2, in units of the type's epsilon. */
    private static final double EPSILONS = 256;

    private final GemmKernels reference = new ReferenceGemm();

    private static GemmKernels gemm(Blas blas) {
        return new CpuGemm(blas, new ScalarFloatKernels(), TestArrays.poisonedPool());
    }

    static Stream<Blas> libraries() {
        return Stream.of(NetlibBlas.load(), NetlibBlas.java());
    }

    static Stream<Arguments> librariesAndTypes() {
        return libraries()
                .flatMap(blas -> Stream.of(DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16)
                        .map(dtype -> Arguments.of(blas, dtype)));
    }

    static Stream<Arguments> librariesAndSharing() {
        return libraries().flatMap(blas -> Stream.of(Arguments.of(blas, false), Arguments.of(blas, true)));
    }

    @ParameterizedTest
    @MethodSource("librariesAndTypes")
    void shouldMultiplyAsDefinedForAllTransposesOffsetsAndFactors(Blas blas, DType dtype) {
        GemmKernels gemm = gemm(blas);
        Random random = new Random(1);
        int[][] sizes = {{1, 1, 1}, {2, 3, 4}, {7, 5, 3}, {17, 33, 70}, {64, 1, 9}, {1, 64, 9}, {5, 6, 1}, {31, 32, 33}
        };
        for (int[] size : sizes) {
            int m = size[0];
            int n = size[1];
            int k = size[2];
            for (int bits = 0; bits < 8; bits++) {
                boolean ta = (bits & 1) != 0;
                boolean tb = (bits & 2) != 0;
                double beta = (bits & 4) != 0 ? 0.5 : 0;
                NdArray a = random(dtype, random, 3, Shape.of(ta ? k : m, ta ? m : k));
                NdArray b = random(dtype, random, 5, Shape.of(tb ? n : k, tb ? k : n));
                NdArray c = random(dtype, random, 1, Shape.of(m, n));
                NdArray expected = copyOf(c);
                gemm.gemm(ta, tb, m, n, k, 1.5, a, 0, b, 0, beta, c, 0, 1);
                reference.gemm(ta, tb, m, n, k, 1.5, a, 0, b, 0, beta, expected, 0, 1);
                assertClose(c, expected, EPSILONS);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("librariesAndSharing")
    void shouldMultiplyBatchesWithAndWithoutSharedOperands(Blas blas, boolean sharedB) {
        GemmKernels gemm = gemm(blas);
        Random random = new Random(2);
        for (DType dtype : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16}) {
            for (int bits = 0; bits < 4; bits++) {
                boolean ta = (bits & 1) != 0;
                boolean tb = (bits & 2) != 0;
                NdArray a = random(dtype, random, 2, Shape.of(3, 4 * 6));
                NdArray b = random(dtype, random, 0, Shape.of(3, 6 * 5));
                NdArray c = random(dtype, random, 7, Shape.of(3, 4 * 5));
                NdArray expected = copyOf(c);
                long strideB = sharedB ? 0 : 30;
                gemm.gemm(ta, tb, 4, 5, 6, 1, a, 24, b, strideB, 1, c, 20, 3);
                reference.gemm(ta, tb, 4, 5, 6, 1, a, 24, b, strideB, 1, expected, 20, 3);
                assertClose(c, expected, EPSILONS);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("librariesAndTypes")
    void shouldLeaveGapsBetweenMatricesAlone(Blas blas, DType dtype) {
        GemmKernels gemm = gemm(blas);
        Random random = new Random(5);
        NdArray a = random(dtype, random, 2, Shape.of(3 * 30));
        NdArray b = random(dtype, random, 0, Shape.of(6 * 5));
        for (long strideA : new long[] {0, 24, 30}) {
            for (long strideC : new long[] {20, 25}) {
                NdArray c = random(dtype, random, 7, Shape.of(3 * 25));
                NdArray expected = copyOf(c);
                gemm.gemm(false, false, 4, 5, 6, 1, a, strideA, b, 0, 0, c, strideC, 3);
                reference.gemm(false, false, 4, 5, 6, 1, a, strideA, b, 0, 0, expected, strideC, 3);
                assertClose(c, expected, EPSILONS);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("librariesAndTypes")
    void shouldNotReadTheResultWithoutBeta(Blas blas, DType dtype) {
        GemmKernels gemm = gemm(blas);
        NdArray a = filled(dtype, Shape.of(9, 9), 2);
        NdArray c = filled(dtype, Shape.of(9, 9), Double.NaN);
        gemm.gemm(false, false, 9, 9, 9, 1, a, 0, a, 0, 0, c, 0, 1);
        assertClose(c, filled(dtype, Shape.of(9, 9), 36), 0);
    }

    @ParameterizedTest
    @MethodSource("librariesAndTypes")
    void shouldScaleTheResultWhenNothingIsContracted(Blas blas, DType dtype) {
        GemmKernels gemm = gemm(blas);
        NdArray a = filled(dtype, Shape.of(2, 0), 0);
        NdArray b = filled(dtype, Shape.of(0, 3), 0);
        NdArray c = filled(dtype, Shape.of(2, 3), 4);
        gemm.gemm(false, false, 2, 3, 0, 1, a, 0, b, 0, 0.5, c, 0, 1);
        assertClose(c, filled(dtype, Shape.of(2, 3), 2), 0);
        NdArray nan = filled(dtype, Shape.of(2, 3), Double.NaN);
        gemm.gemm(false, false, 2, 3, 0, 1, a, 0, b, 0, 0, nan, 0, 1);
        assertClose(nan, filled(dtype, Shape.of(2, 3), 0), 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void shouldAddHalvesUpInFloats(DType dtype) {
        GemmKernels gemm = CpuBackend.get().gemm();
        NdArray a = random(dtype, new Random(3), 0, Shape.of(8, 16));
        NdArray b = random(dtype, new Random(4), 0, Shape.of(8, 4));
        NdArray c = filled(DType.FLOAT32, Shape.of(16, 4), 1);
        NdArray expected = copyOf(c);
        gemm.gemm(true, false, 16, 4, 8, 1, a, 0, b, 0, 1, c, 0, 1);
        reference.gemm(true, false, 16, 4, 8, 1, a, 0, b, 0, 1, expected, 0, 1);
        assertClose(c, expected, EPSILONS);
    }

    @Test
    @EnabledOnOs(
            value = OS.LINUX,
            architectures = {"amd64", "aarch64"})
    void shouldFindOpenBlasWhereItsNativesAre() {
        assertThat(CpuBackend.get().blasDescription()).startsWith("OpenBLAS");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void shouldDoNothingForEmptyMatrices(int which) {
        GemmKernels gemm = CpuBackend.get().gemm();
        NdArray a = filled(DType.FLOAT32, Shape.of(0), 0);
        NdArray c = filled(DType.FLOAT32, Shape.of(3), 7);
        gemm.gemm(false, false, which == 0 ? 0 : 1, which == 1 ? 0 : 1, 0, 1, a, 0, a, 0, 0, c, 0, which == 2 ? 0 : 1);
        assertThat(((HostStorage) c.storage()).floats()[0]).isEqualTo(7);
    }
}
