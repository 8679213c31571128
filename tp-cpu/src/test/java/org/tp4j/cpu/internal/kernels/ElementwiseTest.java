package org.tp4j.cpu.internal.kernels;

import static org.tp4j.cpu.internal.kernels.TestArrays.assertClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.assertRelativelyClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.copyOf;
import static org.tp4j.cpu.internal.kernels.TestArrays.of;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;
import static org.tp4j.cpu.internal.kernels.TestArrays.window;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.cpu.internal.reference.ReferenceElementwise;
import org.tp4j.cpu.internal.scalar.FloatKernels;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.UnaryFunction;

/** The fast elementwise kernels against the reference, for scalar and vector loops. */
class ElementwiseTest {
    /** A few roundings in a float chain (the worst are GELU's tail: 3 of its polynomial, 1.5 of its exponential). */
    private static final double EPSILONS = 6;

    /** The exponent of GELU's tanh form is a cubic of x, whose rounding counts up to 90-fold in the tail. */
    private static final double CUBIC_EPSILONS = 100;

    /** Slopes cross zero, so they are measured against 1; they are used with gradients of that size. */
    private static final double SLOPE_EPSILONS = 4;

    private static final DType[] FLOATS = {DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, DType.FLOAT64};
    private static final int[] SIZES = {0, 1, 17, 63, 64, 100, 1025, 2500};
    private static final double[] SPECIAL = {
        Double.NaN,
        Double.POSITIVE_INFINITY,
        Double.NEGATIVE_INFINITY,
        0.0,
        -0.0,
        1e4,
        -1e4,
        3e38,
        -3e38,
        1e-40,
        -1e-40,
        88,
        -88,
        88.5,
        -88.5,
        87.2,
        -87.2,
        100,
        -100,
        104,
        -104,
        13.2,
        -13.2,
        13.3,
        -13.3,
        20,
        -20,
        0.55,
        -0.55,
        0.1,
        1,
        -1,
        2,
        -2,
        5,
        -5,
        0.7518,
        -0.7518,
        1e-10,
        -1e-10,
        65504,
        10.5,
        -10.5,
        7,
        -7,
        3,
        -3
    };

    private final ReferenceElementwise reference = new ReferenceElementwise();

    private static ElementwiseKernels fast(FloatKernels loops) {
        return new CpuElementwise(loops, TestArrays.poisonedPool());
    }

    private static UnaryFunction[] functionsOf(DType dtype) {
        return Arrays.stream(UnaryFunction.values())
                .filter(function -> function.isDefinedFor(dtype))
                .toArray(UnaryFunction[]::new);
    }

    static java.util.stream.Stream<FloatKernels> loops() {
        return TestArrays.floatKernels();
    }

    private static double tolerance(DType dtype, UnaryFunction function) {
        return tolerance(dtype, function == UnaryFunction.GELU_TANH ? CUBIC_EPSILONS : EPSILONS);
    }

    private static double tolerance(DType dtype, double floats) {
        return dtype.isHalf() ? 1 : dtype == DType.FLOAT32 ? floats : 0;
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldComputeUnaryFunctionsLikeTheReference(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        Random random = new Random(1);
        for (DType dtype : DType.values()) {
            for (UnaryFunction function : functionsOf(dtype)) {
                for (int n : SIZES) {
                    NdArray x = random(dtype, random, n % 5, Shape.of(n));
                    NdArray out = window(dtype, 3, Shape.of(n));
                    NdArray expected = window(dtype, 3, Shape.of(n));
                    fast.unary(function, x, out, -0.5, 1.5);
                    reference.unary(function, x, expected, -0.5, 1.5);
                    assertRelativelyClose(out, expected, tolerance(dtype, function));
                    fast.unary(function, x, x, -0.5, 1.5);
                    assertRelativelyClose(x, out, 0);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldComputeUnaryFunctionsOfExtremeNumbersLikeTheReference(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        for (DType dtype : FLOATS) {
            for (UnaryFunction function : functionsOf(dtype)) {
                NdArray x = of(dtype, 1, Shape.of(SPECIAL.length * 3), SPECIAL);
                NdArray out = window(dtype, 2, x.shape());
                NdArray expected = window(dtype, 2, x.shape());
                fast.unary(function, x, out, -0.5, 1.5);
                reference.unary(function, x, expected, -0.5, 1.5);
                assertRelativelyClose(out, expected, tolerance(dtype, function));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldComputeBinaryFunctionsLikeTheReference(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        Random random = new Random(2);
        for (DType dtype : DType.values()) {
            for (BinaryFunction function : BinaryFunction.values()) {
                for (int n : SIZES) {
                    NdArray a = random(dtype, random, n % 3, Shape.of(n));
                    NdArray b = random(dtype, random, n % 4, Shape.of(n));
                    checkBinary(fast, function, a, b, Shape.of(n));
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldComputeBinaryFunctionsOfExtremeNumbersLikeTheReference(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        int n = SPECIAL.length;
        for (DType dtype : FLOATS) {
            for (BinaryFunction function : BinaryFunction.values()) {
                NdArray a = of(dtype, 1, Shape.of(n, 1), SPECIAL);
                NdArray b = of(dtype, 2, Shape.of(3), 1, -2, 0.5);
                checkBinary(fast, function, a, b, Shape.of(n, 3));
                NdArray c = of(dtype, 0, Shape.of(n, 2), SPECIAL);
                NdArray d = of(dtype, 0, Shape.of(n, 2), 1.5);
                checkBinary(fast, function, c, d, Shape.of(n, 2));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldBroadcastLikeTheReference(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        Random random = new Random(3);
        long[][][] shapes = {
            {{5, 70}, {70}},
            {{5, 70}, {5, 1}},
            {{5, 70}, {1, 70}},
            {{5, 70}, {}},
            {{1}, {5, 70}},
            {{}, {}},
            {{1, 1}, {1}},
            {{3, 1, 4}, {1, 5, 1}},
            {{2, 3, 4, 5}, {3, 1, 5}},
            {{2, 1, 4, 1}, {3, 1, 5}},
            {{7, 1}, {1, 1100}},
            {{2, 2000}, {2000}},
            {{1100, 2}, {1100, 1}},
            {{0, 3}, {3}},
            {{3, 0}, {1}}
        };
        for (long[][] pair : shapes) {
            Shape first = Shape.of(pair[0]);
            Shape second = Shape.of(pair[1]);
            Shape out = first.broadcast(second);
            for (DType dtype : new DType[] {DType.FLOAT32, DType.BFLOAT16, DType.INT64}) {
                for (BinaryFunction function : new BinaryFunction[] {
                    BinaryFunction.ADD,
                    BinaryFunction.SUB,
                    BinaryFunction.MAXIMUM,
                    BinaryFunction.LT,
                    BinaryFunction.RELU_GRAD
                }) {
                    checkBinary(fast, function, random(dtype, random, 2, first), random(dtype, random, 1, second), out);
                    checkBinary(fast, function, random(dtype, random, 2, second), random(dtype, random, 1, first), out);
                }
            }
        }
    }

    private void checkBinary(ElementwiseKernels fast, BinaryFunction function, NdArray a, NdArray b, Shape shape) {
        DType dtype = a.dtype();
        boolean slope = !function.isDefinedFor(DType.INT32) && !function.givesBool();
        if (!function.isDefinedFor(dtype)) {
            return;
        }
        if (function == BinaryFunction.DIV && dtype.isInteger()) {
            return;
        }
        DType result = function.givesBool() ? DType.BOOL : dtype;
        NdArray out = window(result, 5, shape);
        NdArray expected = window(result, 5, shape);
        fast.binary(function, a, b, out);
        reference.binary(function, a, b, expected);
        if (slope) {
            assertClose(out, expected, tolerance(dtype, SLOPE_EPSILONS * 4));
        } else {
            assertRelativelyClose(out, expected, tolerance(dtype, EPSILONS));
        }
        if (!function.givesBool() && a.shape().equals(shape)) {
            NdArray inPlace = copyOf(a);
            fast.binary(function, inPlace, b, inPlace);
            assertRelativelyClose(inPlace, out, 0);
        }
        if (!function.givesBool() && b.shape().equals(shape)) {
            NdArray inPlace = copyOf(b);
            fast.binary(function, a, inPlace, inPlace);
            assertRelativelyClose(inPlace, out, 0);
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldKeepTheTailsOfActivationsAccurate(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        int n = 2000;
        double[] values = new double[n];
        Arrays.setAll(values, i -> -12.5 + i * 0.005);
        NdArray x = of(DType.FLOAT32, 0, Shape.of(n), values);
        NdArray one = of(DType.FLOAT32, 0, Shape.of(n), 1);
        NdArray out = window(DType.FLOAT32, 0, Shape.of(n));
        NdArray expected = window(DType.FLOAT32, 0, Shape.of(n));
        for (Activation activation : Activation.values()) {
            fast.unary(activation.forward(), x, out, 0, 0);
            reference.unary(activation.forward(), x, expected, 0, 0);
            double close = tolerance(DType.FLOAT32, activation.forward());
            assertRelativelyClose(out, expected, close);
            fast.binary(activation.gradient(), x, one, out);
            reference.binary(activation.gradient(), x, one, expected);
            assertClose(out, expected, SLOPE_EPSILONS);
            // beyond -3 the slopes have no zero left
            Shape tail = Shape.of(1900 - 1);
            assertRelativelyClose(out.window(0, tail), expected.window(0, tail), close * 8);
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    void shouldFuseBiasAndGateLikeTheReference(FloatKernels loops) {
        ElementwiseKernels fast = fast(loops);
        Random random = new Random(4);
        int[][] sizes = {{3, 5}, {1, 1}, {7, 64}, {2, 1024}, {3, 1500}, {100, 33}, {0, 4}, {4, 0}};
        for (DType dtype : FLOATS) {
            for (Activation activation : Activation.values()) {
                for (int[] size : sizes) {
                    Shape shape = Shape.of(size[0], size[1]);
                    NdArray x = random(dtype, random, 1, shape);
                    NdArray y = random(dtype, random, 0, shape);
                    NdArray dy = random(dtype, random, 2, shape);
                    NdArray bias = random(dtype, random, 3, Shape.of(size[1]));
                    NdArray out = window(dtype, 1, shape);
                    NdArray out2 = window(dtype, 0, shape);
                    NdArray expected = window(dtype, 1, shape);
                    NdArray expected2 = window(dtype, 0, shape);
                    // the sum x + bias is rounded first, which a tail of GELU shows: measured against 1
                    double close = tolerance(dtype, 16);
                    fast.biasActivation(activation, x, bias, out);
                    reference.biasActivation(activation, x, bias, expected);
                    assertClose(out, expected, close);
                    fast.biasActivationGrad(activation, x, bias, dy, out);
                    reference.biasActivationGrad(activation, x, bias, dy, expected);
                    assertClose(out, expected, close);
                    fast.gated(activation, x, y, out);
                    reference.gated(activation, x, y, expected);
                    assertClose(out, expected, close);
                    fast.gatedGrad(activation, x, y, dy, out, out2);
                    reference.gatedGrad(activation, x, y, dy, expected, expected2);
                    assertClose(out, expected, close);
                    assertClose(out2, expected2, close);
                }
            }
        }
    }
}
