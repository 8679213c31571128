package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.ReductionKernels.Kind;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Reductions and arg-max on a device against the CPU's. */
class ReductionKernelsTest {
    /**
     * Both round a result once; before that the CPU has 64 bits and the device 32 with their error kept. In 64 bits it is
     * the CPU that adds some thousand numbers one after another.
     */
    private static double epsilons(DType dtype) {
        return dtype == DType.FLOAT64 ? 64 : 2;
    }

    private static final long[][] SHAPES = {
        {},
        {1},
        {7},
        {257},
        {4099},
        {3, 5},
        {31, 3},
        {5, 1000},
        {300, 8},
        {700, 3},
        {2, 3, 4},
        {4, 1, 5},
        {3, 130, 16},
        {2, 3, 4, 5},
        {3, 2, 5, 7},
        {1, 6, 1, 33},
        {0, 3},
        {3, 0}
    };

    private static ReductionKernels cpu() {
        return OnCuda.cpu().reduction();
    }

    private static ReductionKernels cuda() {
        return OnCuda.device().reduction();
    }

    private static void reduce(Kind kind, Twin x, boolean[] reduced, Twin out) {
        cpu().reduce(kind, x.cpu(), reduced, out.cpu());
        cuda().reduce(kind, x.cuda(), reduced, out.cuda());
    }

    private static boolean[] mask(int bits, int dims) {
        boolean[] reduced = new boolean[dims];
        for (int d = 0; d < dims; d++) {
            reduced[d] = (bits >> d & 1) != 0;
        }
        return reduced;
    }

    private static Shape kept(long[] sizes, boolean[] reduced) {
        long kept = 1;
        for (int d = 0; d < sizes.length; d++) {
            kept *= reduced[d] ? 1 : sizes[d];
        }
        return Shape.of(kept);
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldReduceAnyDimensionsAsTheCpuDoes(DType dtype) {
        Random random = new Random(1);
        int i = 0;
        for (long[] sizes : SHAPES) {
            try (Scope scope = Scope.open()) {
                Twin x = Twin.random(dtype, random, i++ % 6, Shape.of(sizes));
                for (int bits = 0; bits < 1 << sizes.length; bits++) {
                    boolean[] reduced = mask(bits, sizes.length);
                    for (Kind kind : Kind.values()) {
                        Twin out = Twin.result(dtype, bits % 3, kept(sizes, reduced));
                        reduce(kind, x, reduced, out);
                        // a sum that cancels is as good as its terms
                        out.assertClose(
                                epsilons(dtype),
                                kind == Kind.SUM ? Math.sqrt(x.shape().elements()) : 0);
                    }
                }
            }
        }
    }

    @Test
    void shouldReduceRowsAndColumnsWhereverTheyBegin() {
        Random random = new Random(2);
        for (DType dtype : DType.values()) {
            for (int n : new int[] {1, 2, 15, 16, 17, 31, 100}) {
                for (int offset = 0; offset < 9; offset += dtype.bytes() > 4 ? 1 : 2) {
                    try (Scope scope = Scope.open()) {
                        Twin x = Twin.random(dtype, random, offset, Shape.of(7, n));
                        for (int bits = 1; bits < 4; bits++) {
                            boolean[] reduced = mask(bits, 2);
                            Twin out = Twin.result(dtype, 1, kept(new long[] {7, n}, reduced));
                            reduce(Kind.SUM_ABS, x, reduced, out);
                            out.assertClose(epsilons(dtype), 0);
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldGiveSumsOfAnyFloatsAsFloatsOrDoubles() {
        Random random = new Random(3);
        for (DType dtype : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16}) {
            for (DType to : new DType[] {DType.FLOAT32, DType.FLOAT64}) {
                try (Scope scope = Scope.open()) {
                    Twin x = Twin.random(dtype, random, 1, Shape.of(40, 50));
                    for (int bits = 0; bits < 4; bits++) {
                        for (Kind kind : Kind.values()) {
                            boolean[] reduced = mask(bits, 2);
                            Twin out = Twin.result(to, 1, kept(new long[] {40, 50}, reduced));
                            reduce(kind, x, reduced, out);
                            boolean widened = dtype != DType.FLOAT64 && to == DType.FLOAT64;
                            out.assertClose(widened ? 0x1p30 : epsilons(to), kind == Kind.SUM ? 100 : 0);
                        }
                    }
                }
            }
        }
    }

    /** In floats one after another, 0.1 added up a million times is 100958.34. */
    @Test
    void shouldSumAMillionNumbersWithoutLosingAny() {
        try (Scope scope = Scope.open()) {
            int n = 1 << 20;
            float[] values = {0.1f, 1e-4f, 3, 1e-7f};
            double exact = 0;
            for (float value : values) {
                exact += (double) value * (n / values.length);
            }
            NdArray x = Twin.of(DType.FLOAT32, 1, Shape.of(n), 0.1f, 1e-4f, 3, 1e-7f)
                    .cuda();
            NdArray out = Twin.result(DType.FLOAT32, 0, Shape.scalar()).cuda();
            cuda().reduce(Kind.SUM, x, new boolean[] {true}, out);
            assertThat(OnCuda.values(out)[0]).isEqualTo((float) exact);
            NdArray columns = Twin.result(DType.FLOAT32, 0, Shape.of(4)).cuda();
            cuda().reduce(Kind.SUM, x.reshape(Shape.of(n / 4, 4)), new boolean[] {true, false}, columns);
            for (int j = 0; j < 4; j++) {
                assertThat(OnCuda.values(columns)[j]).isEqualTo((float) ((double) values[j] * (n / 4)));
            }
        }
    }

    @Test
    void shouldGiveTheSameBitsEachTime() {
        try (Scope scope = Scope.open()) {
            Twin x = Twin.random(DType.FLOAT32, new Random(4), 1, Shape.of(2000, 33));
            double[][] sums = new double[2][];
            for (int i = 0; i < 2; i++) {
                NdArray out = Twin.result(DType.FLOAT64, 0, Shape.of(33)).cuda();
                cuda().reduce(Kind.SUM, x.cuda(), new boolean[] {true, false}, out);
                sums[i] = OnCuda.values(out);
            }
            assertThat(sums[0]).isEqualTo(sums[1]);
        }
    }

    @Test
    void shouldTreatNanInfinityAndHugeNumbersAsTheCpuDoes() {
        double inf = Double.POSITIVE_INFINITY;
        double[][] rows = {
            {1, Double.NaN, 3, inf},
            {inf, 2, 3, 4},
            {-inf, 2, 3, 4},
            {inf, -inf, 3, 4},
            {-inf, -inf, -inf, -inf},
            {3e38, -3e38, 1, 2},
            {-0.0, 0.0, -0.0, 0.0},
            {-5, -3, -4, -9}
        };
        for (DType dtype : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16}) {
            for (double[] row : rows) {
                for (int length : new int[] {4, 40, 1200}) {
                    try (Scope scope = Scope.open()) {
                        double[] values = Arrays.copyOf(row, length);
                        Arrays.fill(values, 4, length, row[3]);
                        for (int bits = 1; bits < 4; bits++) {
                            Twin x = Twin.of(dtype, 1, bits == 1 ? Shape.of(length, 1) : Shape.of(1, length), values);
                            for (Kind kind : new Kind[] {Kind.SUM, Kind.SUM_ABS, Kind.MAX, Kind.MIN, Kind.MAX_ABS}) {
                                if (kind == Kind.SUM_ABS && row[0] == 3e38) {
                                    continue; // which floats cannot hold on the way
                                }
                                Twin out = Twin.result(dtype, 0, Shape.of(1));
                                reduce(kind, x, mask(bits, 2), out);
                                out.assertClose(epsilons(dtype), kind == Kind.SUM && row[0] == 3e38 ? 1e33 : 0);
                            }
                        }
                    }
                }
            }
        }
    }

    @Test
    void shouldReduceTheEndsOfIntegers() {
        for (DType dtype : new DType[] {DType.INT32, DType.INT64}) {
            try (Scope scope = Scope.open()) {
                double least = dtype == DType.INT32 ? Integer.MIN_VALUE : Long.MIN_VALUE;
                double greatest = dtype == DType.INT32 ? Integer.MAX_VALUE : Long.MAX_VALUE;
                Twin x = Twin.of(dtype, 1, Shape.of(3), greatest, greatest, least);
                for (Kind kind : Kind.values()) {
                    Twin out = Twin.result(dtype, 0, Shape.scalar());
                    reduce(kind, x, new boolean[] {true}, out);
                    out.assertClose(0);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldFindTheFirstLargestAsTheCpuDoes(DType dtype) {
        Random random = new Random(5);
        for (int n : new int[] {1, 3, 31, 257, 1000, 4099}) {
            for (int offset : new int[] {0, 1}) {
                try (Scope scope = Scope.open()) {
                    Twin x = Twin.random(dtype, random, offset, Shape.of(3, n));
                    Twin out = Twin.result(DType.INT64, 1, Shape.of(3));
                    argmax(x, out);
                    out.assertClose(0);
                    Twin same = Twin.of(dtype, offset, Shape.of(2, n), 1);
                    Twin first = Twin.result(DType.INT64, 0, Shape.of(2));
                    argmax(same, first);
                    assertThat(OnCuda.values(first.cuda())).containsOnly(0);
                    first.assertClose(0);
                }
            }
        }
    }

    private static void argmax(Twin x, Twin out) {
        cpu().argmax(x.cpu(), out.cpu());
        cuda().argmax(x.cuda(), out.cuda());
    }

    @Test
    void shouldFindNanAndInfinityAsTheCpuDoes() {
        double inf = Double.POSITIVE_INFINITY;
        double nan = Double.NaN;
        for (DType dtype : new DType[] {DType.FLOAT32, DType.FLOAT64, DType.FLOAT16}) {
            try (Scope scope = Scope.open()) {
                Twin x = Twin.of(
                        dtype,
                        1,
                        Shape.of(4, 4),
                        1,
                        nan,
                        3,
                        nan,
                        1,
                        inf,
                        inf,
                        2,
                        -inf,
                        -inf,
                        -inf,
                        -inf,
                        -inf,
                        -2,
                        -1,
                        nan);
                Twin out = Twin.result(DType.INT64, 0, Shape.of(4));
                argmax(x, out);
                assertThat(OnCuda.values(out.cuda())).containsExactly(1, 1, 0, 3);
                out.assertClose(0);
            }
        }
        try (Scope scope = Scope.open()) {
            Twin none = Twin.of(DType.FLOAT32, 0, Shape.of(0, 3), 0);
            argmax(none, Twin.result(DType.INT64, 0, Shape.of(0)));
            Twin scalar = Twin.of(DType.FLOAT32, 0, Shape.scalar(), 5);
            Twin out = Twin.result(DType.INT64, 0, Shape.scalar());
            argmax(scalar, out);
            out.assertClose(0);
        }
    }
}
