package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.UnaryFunction;

/** Every elementwise kernel and type on CUDA against the CPU: odd sizes, unaligned windows, extreme numbers, broadcasting. */
class ElementwiseKernelsTest {
    /** Both sides are a few roundings from the truth, 6 epsilons on the CPU. */
    private static final double EPSILONS = 8;

    /** The exponent of GELU's tanh form is a cubic of x, whose rounding counts up to 90-fold in the tail. */
    private static final double CUBIC_EPSILONS = 200;

    /** Slopes cross zero, so they are measured against 1. */
    private static final double SLOPE_EPSILONS = 16;

    private static final int[] SIZES = {0, 1, 3, 31, 64, 257, 4099};

    static final double[] SPECIAL = {
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
        1e-310,
        88,
        -88,
        88.5,
        -88.5,
        -87.2,
        100,
        -100,
        104,
        -104,
        13.2,
        -13.2,
        14.5,
        -14.6,
        0.55,
        -0.55,
        1,
        -1,
        5,
        -5,
        1e-10,
        -1e-10,
        65504,
        65520,
        10.5,
        -10.5,
        2147483648.0,
        -2147483649.0,
        9.3e18,
        -9.3e18,
        3.5,
        -3.5
    };

    private Scope scope;
    private ElementwiseKernels cpu;
    private ElementwiseKernels cuda;

    @BeforeEach
    void openScope() {
        scope = Scope.open();
        cpu = OnCuda.cpu().elementwise();
        cuda = OnCuda.device().elementwise();
    }

    @AfterEach
    void closeScope() {
        scope.close();
    }

    private static double tolerance(DType dtype, double epsilons) {
        return dtype.isHalf() ? 1 : epsilons;
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldComputeUnaryFunctions(DType dtype) {
        Random random = new Random(1);
        for (UnaryFunction function : UnaryFunction.values()) {
            for (int n : SIZES) {
                if (function.isDefinedFor(dtype)) {
                    checkUnary(function, Twin.random(dtype, random, n % 5, Shape.of(n)), n % 3, -0.5, 1.5);
                    checkUnary(function, Twin.random(dtype, random, 1, Shape.of(n)), 1, 3, 700);
                }
            }
            if (function.isDefinedFor(dtype) && dtype.isFloating()) {
                checkUnary(function, Twin.of(dtype, 1, Shape.of(3 * SPECIAL.length), SPECIAL), 2, -0.5, 1.5);
            } else if (function.isDefinedFor(dtype)) {
                checkUnary(function, Twin.of(dtype, 1, Shape.of(100), SPECIAL), 2, -7.5, 1e12);
            }
        }
    }

    private void checkUnary(UnaryFunction function, Twin x, int offset, double a, double b) {
        Twin out = Twin.result(x.dtype(), offset, x.cpu().shape());
        cpu.unary(function, x.cpu(), out.cpu(), a, b);
        cuda.unary(function, x.cuda(), out.cuda(), a, b);
        String what = function + " of " + x.cpu() + " at " + x.cpu().offset();
        out.assertRelativelyClose(
                what, tolerance(x.dtype(), function == UnaryFunction.GELU_TANH ? CUBIC_EPSILONS : EPSILONS));
        cpu.unary(function, x.cpu(), x.cpu(), a, b);
        cuda.unary(function, x.cuda(), x.cuda(), a, b);
        x.assertRelativelyClose(what + " in place", tolerance(x.dtype(), CUBIC_EPSILONS));
    }

    @Test
    void shouldRefuseFractionsOfWholeNumbers() {
        Twin x = Twin.of(DType.INT32, 0, Shape.of(3), 1);
        assertThatThrownBy(() -> cuda.unary(UnaryFunction.EXP, x.cuda(), x.cuda(), 0, 0))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("EXP of int32 is not defined; HINT: cast to float32 first");
        assertThatThrownBy(() -> cuda.binary(BinaryFunction.GELU_GRAD, x.cuda(), x.cuda(), x.cuda()))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("HINT");
    }

    /** Whether it is a slope, other than RELU's, times a gradient. */
    private static boolean isSlope(BinaryFunction function) {
        return !function.isDefinedFor(DType.INT32) && !function.givesBool();
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldComputeBinaryFunctions(DType dtype) {
        Random random = new Random(2);
        for (BinaryFunction function : BinaryFunction.values()) {
            if (function.isDefinedFor(dtype)) {
                for (int n : SIZES) {
                    Shape shape = Shape.of(n);
                    Twin a = Twin.random(dtype, random, n % 3, shape);
                    Twin b = nonzero(Twin.random(dtype, random, n % 4, shape));
                    checkBinary(function, a, b, n % 5, shape);
                    checkBinary(function, a, nonzero(Twin.random(dtype, random, 1, Shape.of(1))), 0, shape);
                    checkBinary(function, Twin.random(dtype, random, 1, Shape.scalar()), b, 4, shape);
                }
                if (dtype.isFloating()) {
                    int n = SPECIAL.length;
                    Twin a = Twin.of(dtype, 1, Shape.of(n, 1), SPECIAL);
                    // a slope that is 0 here and nearly 0 there differs much when it is multiplied by infinity
                    double[] other = isSlope(function) ? new double[] {1, -2, 0.5} : SPECIAL;
                    checkBinary(function, a, Twin.of(dtype, 2, Shape.of(1, n), other), 5, Shape.of(n, n));
                }
            }
        }
    }

    /** Integers without 0, by which nothing is divided. */
    private Twin nonzero(Twin x) {
        if (x.dtype().isInteger()) {
            Twin one = Twin.of(x.dtype(), 0, Shape.of(1), 1);
            Twin zero = Twin.of(x.dtype(), 0, Shape.of(1), 0);
            Twin isZero = Twin.result(DType.BOOL, 0, x.cpu().shape());
            cpu.binary(BinaryFunction.EQ, x.cpu(), zero.cpu(), isZero.cpu());
            cpu.where(isZero.cpu(), one.cpu(), x.cpu(), x.cpu());
            x.send();
        }
        return x;
    }

    private void checkBinary(BinaryFunction function, Twin a, Twin b, int offset, Shape shape) {
        DType dtype = a.dtype();
        String what = function + " of " + a.cpu() + " and " + b.cpu();
        Twin out = Twin.result(function.givesBool() ? DType.BOOL : dtype, offset, shape);
        cpu.binary(function, a.cpu(), b.cpu(), out.cpu());
        cuda.binary(function, a.cuda(), b.cuda(), out.cuda());
        assertBinary(out, function, what);
        if (!function.givesBool()) {
            if (a.cpu().shape().equals(shape)) {
                Twin inPlace = a.copy();
                cpu.binary(function, inPlace.cpu(), b.cpu(), inPlace.cpu());
                cuda.binary(function, inPlace.cuda(), b.cuda(), inPlace.cuda());
                assertBinary(inPlace, function, what + " into the first");
            }
            if (b.cpu().shape().equals(shape)) {
                Twin inPlace = b.copy();
                cpu.binary(function, a.cpu(), inPlace.cpu(), inPlace.cpu());
                cuda.binary(function, a.cuda(), inPlace.cuda(), inPlace.cuda());
                assertBinary(inPlace, function, what + " into the second");
            }
        }
    }

    private static void assertBinary(Twin out, BinaryFunction function, String what) {
        if (isSlope(function)) {
            out.assertClose(what, tolerance(out.dtype(), SLOPE_EPSILONS));
        } else {
            out.assertSame(what);
        }
    }

    private static final long[][][] BROADCASTS = {
        {{5, 70}, {70}},
        {{5, 70}, {5, 1}},
        {{5, 72}, {1, 72}},
        {{6, 64}, {64}},
        {{6, 64}, {6, 1}},
        {{5, 70}, {}},
        {{1}, {5, 70}},
        {{}, {}},
        {{1, 1}, {1}},
        {{3, 1, 4}, {1, 5, 1}},
        {{3, 1, 16}, {1, 5, 1}},
        {{2, 3, 4, 5}, {3, 1, 5}},
        {{2, 1, 4, 1}, {3, 1, 32}},
        {{7, 1}, {1, 1100}},
        {{2, 2000}, {2000}},
        {{1100, 2}, {1100, 1}},
        {{0, 3}, {3}},
        {{3, 0}, {1}},
        // more dimensions than a kernel takes, none of which merge
        {{2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1}}
    };

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldBroadcast(DType dtype) {
        Random random = new Random(3);
        BinaryFunction[] kernels = dtype == DType.BOOL
                ? new BinaryFunction[] {BinaryFunction.AND, BinaryFunction.OR, BinaryFunction.NE}
                : new BinaryFunction[] {
                    BinaryFunction.ADD,
                    BinaryFunction.SUB,
                    BinaryFunction.MAXIMUM,
                    BinaryFunction.LT,
                    BinaryFunction.RELU_GRAD
                };
        for (long[][] pair : BROADCASTS) {
            Shape first = Shape.of(pair[0]);
            Shape second = Shape.of(pair[1]);
            Shape out = first.broadcast(second);
            for (BinaryFunction function : kernels) {
                for (int offset : new int[] {0, 3}) {
                    Twin a = Twin.random(dtype, random, offset, first);
                    Twin b = Twin.random(dtype, random, offset / 2, second);
                    checkBinary(function, a, b, 0, out);
                    checkBinary(function, b, a, offset, out);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldChoose(DType dtype) {
        Random random = new Random(4);
        for (long[][] pair : BROADCASTS) {
            Shape first = Shape.of(pair[0]);
            Shape second = Shape.of(pair[1]);
            Shape shape = first.broadcast(second);
            for (int offset : new int[] {0, 3}) {
                Twin a = Twin.random(dtype, random, offset, first);
                Twin b = Twin.random(dtype, random, 0, second);
                for (Shape chosen : new Shape[] {first, second, shape, Shape.scalar()}) {
                    Twin condition = Twin.random(DType.BOOL, random, offset, chosen);
                    Twin out = Twin.result(dtype, offset, shape);
                    cpu.where(condition.cpu(), a.cpu(), b.cpu(), out.cpu());
                    cuda.where(condition.cuda(), a.cuda(), b.cuda(), out.cuda());
                    out.assertSame(condition.cpu() + " ? " + a.cpu() + " : " + b.cpu());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldCast(DType from) {
        Random random = new Random(5);
        for (DType to : DType.values()) {
            for (int n : SIZES) {
                checkCast(Twin.random(from, random, n % 3, Shape.of(n)), to, n % 4);
                checkCast(Twin.random(from, random, 0, Shape.of(n)), to, 0);
            }
            checkCast(Twin.of(from, 1, Shape.of(2 * SPECIAL.length), SPECIAL), to, 0);
        }
    }

    private void checkCast(Twin x, DType to, int offset) {
        Twin out = Twin.result(to, offset, x.cpu().shape());
        cpu.cast(x.cpu(), out.cpu());
        cuda.cast(x.cuda(), out.cuda());
        out.assertSame("cast of " + x.cpu() + " to " + to);
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldFill(DType dtype) {
        for (int n : SIZES) {
            for (double value : new double[] {0, 1, -1, 3.7, -0.0, 1e30, Double.NaN, Double.NEGATIVE_INFINITY}) {
                Twin out = Twin.result(dtype, n % 7, Shape.of(n));
                cpu.fill(out.cpu(), value);
                cuda.fill(out.cuda(), value);
                out.assertSame("fill of " + out.cpu() + " with " + value);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldAddScaled(DType dtype) {
        Random random = new Random(6);
        for (int n : SIZES) {
            for (double alpha : new double[] {1, -2, 0.3}) {
                for (int offset : new int[] {0, 1}) {
                    Twin x = Twin.random(dtype, random, n % 3, Shape.of(n));
                    Twin y = Twin.random(dtype, random, offset, Shape.of(n));
                    cpu.addScaled(alpha, x.cpu(), y.cpu());
                    cuda.addScaled(alpha, x.cuda(), y.cuda());
                    y.assertClose("addScaled", tolerance(dtype, EPSILONS));
                }
            }
        }
        Twin x = Twin.of(dtype, 0, Shape.of(SPECIAL.length), SPECIAL);
        Twin y = x.copy();
        cpu.addScaled(1, x.cpu(), y.cpu());
        cuda.addScaled(1, x.cuda(), y.cuda());
        y.assertSame("addScaled");
    }

    private static final DType[] FLOATS = {DType.FLOAT32, DType.FLOAT64, DType.BFLOAT16, DType.FLOAT16};

    @ParameterizedTest
    @EnumSource(Activation.class)
    void shouldAddBiasAndActivate(Activation activation) {
        Random random = new Random(7);
        for (DType dtype : FLOATS) {
            for (int n : new int[] {1, 3, 8, 40, 257}) {
                for (int rows : new int[] {0, 1, 5, 17}) {
                    for (int offset : new int[] {0, 1}) {
                        Shape shape = Shape.of(rows, n);
                        Twin x = Twin.random(dtype, random, offset, shape);
                        Twin dy = Twin.random(dtype, random, 0, shape);
                        checkBias(activation, x, Twin.random(dtype, random, n % 2, Shape.of(n)), dy, offset * 3);
                    }
                }
            }
            Shape shape = Shape.of(2, SPECIAL.length);
            Twin dy = Twin.random(dtype, random, 0, shape);
            Twin bias = Twin.of(dtype, 0, Shape.of(SPECIAL.length), 0.25);
            checkBias(activation, Twin.of(dtype, 0, shape, SPECIAL), bias, dy, 0);
        }
    }

    private void checkBias(Activation activation, Twin x, Twin bias, Twin dy, int offset) {
        String what = activation + " of " + x.cpu() + " + " + bias.cpu();
        Twin out = Twin.result(x.dtype(), offset, x.cpu().shape());
        cpu.biasActivation(activation, x.cpu(), bias.cpu(), out.cpu());
        cuda.biasActivation(activation, x.cuda(), bias.cuda(), out.cuda());
        out.assertRelativelyClose(what, tolerance(x.dtype(), CUBIC_EPSILONS));
        cpu.biasActivationGrad(activation, x.cpu(), bias.cpu(), dy.cpu(), out.cpu());
        cuda.biasActivationGrad(activation, x.cuda(), bias.cuda(), dy.cuda(), out.cuda());
        out.assertClose("gradient of " + what, tolerance(x.dtype(), SLOPE_EPSILONS));
        cpu.biasActivationGrad(activation, x.cpu(), bias.cpu(), dy.cpu(), dy.cpu());
        cuda.biasActivationGrad(activation, x.cuda(), bias.cuda(), dy.cuda(), dy.cuda());
        dy.assertClose("gradient over dy of " + what, tolerance(x.dtype(), SLOPE_EPSILONS));
        cpu.biasActivation(activation, x.cpu(), bias.cpu(), x.cpu());
        cuda.biasActivation(activation, x.cuda(), bias.cuda(), x.cuda());
        x.assertRelativelyClose(what + " in place", tolerance(x.dtype(), CUBIC_EPSILONS));
    }

    @ParameterizedTest
    @EnumSource(Activation.class)
    void shouldGate(Activation activation) {
        Random random = new Random(8);
        for (DType dtype : FLOATS) {
            for (int n : SIZES) {
                for (int offset : new int[] {0, 1}) {
                    Twin gate = Twin.random(dtype, random, offset, Shape.of(n));
                    Twin up = Twin.random(dtype, random, 0, Shape.of(n));
                    checkGated(activation, gate, up, Twin.random(dtype, random, offset, Shape.of(n)), offset);
                }
            }
            Shape shape = Shape.of(SPECIAL.length);
            Twin gate = Twin.of(dtype, 0, shape, SPECIAL);
            checkGated(activation, gate, Twin.of(dtype, 0, shape, 0.5), Twin.of(dtype, 0, shape, -1.5), 0);
        }
    }

    private void checkGated(Activation activation, Twin gate, Twin up, Twin dy, int offset) {
        String what = "gate by " + activation + " of " + gate.cpu();
        DType dtype = gate.dtype();
        Shape shape = gate.cpu().shape();
        Twin out = Twin.result(dtype, offset, shape);
        cpu.gated(activation, gate.cpu(), up.cpu(), out.cpu());
        cuda.gated(activation, gate.cuda(), up.cuda(), out.cuda());
        out.assertRelativelyClose(what, tolerance(dtype, CUBIC_EPSILONS));
        Twin dGate = Twin.result(dtype, offset, shape);
        Twin dUp = Twin.result(dtype, 2 * offset, shape);
        cpu.gatedGrad(activation, gate.cpu(), up.cpu(), dy.cpu(), dGate.cpu(), dUp.cpu());
        cuda.gatedGrad(activation, gate.cuda(), up.cuda(), dy.cuda(), dGate.cuda(), dUp.cuda());
        dGate.assertClose("gradient of " + what, tolerance(dtype, SLOPE_EPSILONS));
        dUp.assertRelativelyClose("gradient of " + what, tolerance(dtype, CUBIC_EPSILONS));
        // results over the inputs, as the backward pass may ask for
        cpu.gatedGrad(activation, gate.cpu(), up.cpu(), dy.cpu(), gate.cpu(), dy.cpu());
        cuda.gatedGrad(activation, gate.cuda(), up.cuda(), dy.cuda(), gate.cuda(), dy.cuda());
        gate.assertClose("gradient in place of " + what, tolerance(dtype, SLOPE_EPSILONS));
        dy.assertRelativelyClose("gradient over dy of " + what, tolerance(dtype, CUBIC_EPSILONS));
    }

    @Test
    void shouldKeepTheTailsOfActivationsAccurate() {
        int n = 2000;
        double[] values = new double[n];
        Arrays.setAll(values, i -> -13 + i * 0.0065);
        for (UnaryFunction function :
                new UnaryFunction[] {UnaryFunction.GELU, UnaryFunction.SILU, UnaryFunction.SIGMOID}) {
            checkUnary(function, Twin.of(DType.FLOAT32, 0, Shape.of(n), values), 0, 0, 0);
        }
    }
}
