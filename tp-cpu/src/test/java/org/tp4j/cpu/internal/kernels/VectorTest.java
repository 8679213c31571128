package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Arrays;
import java.util.Random;
import java.util.function.BiFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.tp4j.cpu.internal.scalar.AdamStep;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.cpu.internal.scalar.ScalarFloatKernels;
import org.tp4j.cpu.internal.vector.VectorFloatKernels;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.UnaryFunction;

/** The vector loops give the scalar loops' bits, whatever the length and the offset. */
class VectorTest {
    private static final int LENGTH = 3000;
    private static final int[] SIZES = {0, 1, 63, 64, 65, 127, 128, 129, 144, 250, 256, 1023, 1024, 1025, 2700};

    private final FloatKernels scalar = new ScalarFloatKernels();
    private final FloatKernels vector = VectorFloatKernels.atOnce();
    private final Random random = new Random(1);

    @BeforeAll
    static void needsTheModule() {
        assumeTrue(
                ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent(),
                "run with --add-modules jdk.incubator.vector");
    }

    /** Numbers of all sizes, and now and then one of the special ones. */
    private float[] numbers() {
        float[] special = {
            Float.NaN,
            Float.POSITIVE_INFINITY,
            Float.NEGATIVE_INFINITY,
            0,
            -0f,
            1e-40f,
            -1e-40f,
            13.27f,
            -13.27f,
            88.03f,
            -88.03f,
            88.7f,
            -104,
            0.55f,
            -0.55f,
            Float.MAX_VALUE,
            -Float.MAX_VALUE,
            20,
            -20,
            1e4f,
            -1e4f
        };
        float[] x = new float[LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            double scale = i % 3 == 0 ? 30 : i % 3 == 1 ? 2 : Math.pow(10, random.nextInt(20) - 10);
            x[i] = i % 50 == 7 ? special[random.nextInt(special.length)] : (float) (random.nextGaussian() * scale);
        }
        return x;
    }

    /** Numbers whose sums stay finite. */
    private float[] finite() {
        float[] x = new float[LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            x[i] = (float) random.nextGaussian();
        }
        return x;
    }

    private interface Loop {
        void run(FloatKernels loops, int n, float[] first, float[] second);
    }

    private void check(String name, Loop loop) {
        for (int n : SIZES) {
            float[] start = numbers();
            float[][] got = {start.clone(), start.clone()};
            float[][] expected = {start.clone(), start.clone()};
            loop.run(vector, n, got[0], got[1]);
            loop.run(scalar, n, expected[0], expected[1]);
            for (int j = 0; j < 2; j++) {
                for (int i = 0; i < LENGTH; i++) {
                    if (Float.floatToIntBits(got[j][i]) != Float.floatToIntBits(expected[j][i])) {
                        throw new AssertionError(name + ", " + n + " elements: output " + j + " element " + i + " is "
                                + got[j][i] + ", expected " + expected[j][i]);
                    }
                }
            }
        }
    }

    private void checkSum(String name, BiFunction<FloatKernels, Integer, Double> sum) {
        for (int n : SIZES) {
            assertThat(sum.apply(vector, n)).as("%s of %d", name, n).isEqualTo(sum.apply(scalar, n));
        }
    }

    @Test
    void shouldGiveTheSameBitsElementwise() {
        float[] x = numbers();
        float[] y = numbers();
        for (UnaryFunction kernel : UnaryFunction.values()) {
            if (kernel != UnaryFunction.NOT) {
                check(kernel.name(), (k, n, out, other) -> k.unary(kernel, x, 3, out, 5, n, -0.5f, 1.5f));
            }
        }
        for (BinaryFunction kernel : BinaryFunction.values()) {
            if (!kernel.givesBool()) {
                check(kernel.name(), (k, n, out, other) -> k.binary(kernel, x, 3, y, 1, out, 2, n));
            }
        }
        for (Activation activation : Activation.values()) {
            check(activation.name(), (k, n, out, other) -> k.activate(activation, x, 3, out, 5, other, 4, n));
        }
    }

    @Test
    void shouldGiveTheSameBitsInRows() {
        float[] x = finite();
        float[] y = finite();
        float[] w = finite();
        float[] b = finite();
        float[] v = finite();
        for (int i = 0; i < LENGTH; i++) {
            v[i] *= v[i];
        }
        AdamStep step = AdamStep.of(3, 0.5, 1e-2, 0.9, 0.99, 1e-8, 0.1, true);
        AdamStep coupled = AdamStep.of(3, 0.5, 1e-2, 0.9, 0.99, 1e-8, 0.1, false);
        check("addScaled", (k, n, out, other) -> k.addScaled(0.3f, x, 3, out, 2, n));
        check("addProduct", (k, n, out, other) -> k.addProduct(x, 3, y, 1, out, 2, n));
        check("affine", (k, n, out, other) -> k.affine(x, 3, 0.1f, 1.7f, null, 0, null, 0, out, 2, n));
        check("affine w", (k, n, out, other) -> k.affine(x, 3, 0.1f, 1.7f, w, 5, null, 0, out, 2, n));
        check("affine b", (k, n, out, other) -> k.affine(x, 3, 0.1f, 1.7f, null, 0, b, 4, out, 2, n));
        check("affine wb", (k, n, out, other) -> k.affine(x, 3, 0.1f, 1.7f, w, 5, b, 4, out, 2, n));
        check("project", (k, n, out, other) -> k.project(x, 3, y, 1, 0.1f, 0.2f, 1.7f, out, 2, n));
        check("addRows", (k, n, out, other) -> k.addRows(x, 3, n / 8, 8, out, 2, n / 8));
        check("addRows 5", (k, n, out, other) -> k.addRows(x, 3, n / 8, 5, out, 2, n / 8));
        check("adam", (k, n, out, other) -> {
            float[] second = v.clone();
            k.adam(step, out, 2, x, 3, other, 1, second, 4, n);
            System.arraycopy(second, 0, out, LENGTH - 100, 100);
        });
        check("adam coupled", (k, n, out, other) -> k.adam(coupled, out, 2, x, 3, other, 1, v.clone(), 4, n));
    }

    @Test
    void shouldGiveTheSameSums() {
        float[] x = finite();
        float[] y = finite();
        float[] wild = numbers();
        float[] out = new float[LENGTH];
        checkSum("sum", (k, n) -> k.sum(x, 3, n));
        checkSum("sumSquares", (k, n) -> k.sumSquares(x, 3, 0.3f, n));
        checkSum("dot", (k, n) -> k.dot(x, 3, y, 1, n));
        checkSum("max", (k, n) -> (double) k.max(x, 3, n));
        checkSum("max", (k, n) -> (double) k.max(wild, 3, n));
        checkSum("expSum", (k, n) -> k.expSum(x, 3, 0.7f, out, 1, n));
        check("expSum", (k, n, first, second) -> k.expSum(wild, 3, 0.7f, first, 1, n));
    }

    @Test
    void shouldDrawTheSameWords() {
        for (int blocks : new int[] {0, 1, 15, 16, 17, 100, 257}) {
            for (long counter : new long[] {0, 5, (1L << 32) - 3, -20, Long.MAX_VALUE - 9}) {
                int[] got = new int[4 * blocks];
                int[] expected = new int[4 * blocks];
                vector.philox(0x9e3779b97f4a7c15L, counter, 0xfedcba9876543210L, got, blocks);
                scalar.philox(0x9e3779b97f4a7c15L, counter, 0xfedcba9876543210L, expected, blocks);
                assertThat(got).isEqualTo(expected);
            }
        }
        int[] words = random.ints(LENGTH).toArray();
        float[] x = numbers();
        for (int threshold : new int[] {0, 1, 1 << 23, (1 << 24) - 1, 1 << 24}) {
            check("keep", (k, n, out, other) -> k.keep(words, 5, threshold, 1.25f, x, 3, out, 2, n));
        }
    }

    @Test
    void shouldTakeOverFromTheScalarLoopsUnnoticed() throws InterruptedException {
        FloatKernels loops = VectorFloatKernels.warmedUpInTheBackground();
        float[] x = numbers();
        float[] expected = new float[LENGTH];
        scalar.unary(UnaryFunction.SILU, x, 0, expected, 0, LENGTH, 0, 0);
        float[] out = new float[LENGTH];
        for (int round = 0; round < 400; round++) {
            Arrays.fill(out, 0);
            loops.unary(UnaryFunction.SILU, x, 0, out, 0, LENGTH, 0, 0);
            assertThat(Arrays.equals(out, expected)).isTrue();
            if (round % 40 == 39) {
                Thread.sleep(20);
            }
        }
    }
}
