package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;

/** What tensors compute, and the properties that the descriptions declare, against the descriptions' definitions. */
class FunctionDescriptionTest {
    private static final double[] X = {-2.5, -1, -0.75, -0.1, 0.3, 0.5, 1, 1.75, 3};
    private static final double[] Y = {0.25, -1, 2, -0.3, 0.3, -4, 1.5, 0.125, 2.25};
    private static final double ROUNDING = 1e-12;

    private static Tensor tensor(double[] values) {
        return Tensors.of(CpuBackend.get(), values, values.length);
    }

    @ParameterizedTest
    @EnumSource(UnaryFunction.class)
    void shouldComputeUnaryFunctionsOfTensors(UnaryFunction function) {
        if (function.isDefinedFor(DType.FLOAT64)) {
            double[] expected = Arrays.stream(X)
                    .map(x -> function.apply(x, Functions.A, Functions.B))
                    .toArray();
            assertThat(Functions.apply(function, tensor(X)).toDoubles()).containsExactly(expected);
        }
    }

    @ParameterizedTest
    @EnumSource(BinaryFunction.class)
    void shouldComputeBinaryFunctionsOfTensors(BinaryFunction function) {
        if (function.isDefinedFor(DType.FLOAT64)) {
            double[] expected = new double[X.length];
            Arrays.setAll(expected, i -> function.apply(X[i], Y[i]));
            Tensor result = Functions.apply(function, tensor(X), tensor(Y));
            assertThat(result.dtype()).isEqualTo(function.givesBool() ? DType.BOOL : DType.FLOAT64);
            assertThat(result.toDoubles()).containsExactly(expected);
        }
    }

    /** f(x + y) = f(x) + f(y) - f(0), which decides whether a pending sum may pass. */
    @ParameterizedTest
    @EnumSource(UnaryFunction.class)
    void shouldBeLinearExactlyWhereTheySaySo(UnaryFunction function) {
        if (function.isDefinedFor(DType.FLOAT64)) {
            double most = 0;
            for (int i = 0; i < X.length; i++) {
                double whole = of(function, X[i] + Y[i]);
                most = Math.max(most, distance(whole, of(function, X[i]) + of(function, Y[i]) - of(function, 0)));
            }
            assertThat(most < ROUNDING).isEqualTo(function.isLinear(DType.FLOAT64));
        }
    }

    @ParameterizedTest
    @EnumSource(BinaryFunction.class)
    void shouldBeLinearInAnOperandExactlyWhereTheySaySo(BinaryFunction function) {
        if (function.givesBool()) {
            assertThat(function.isLinearIn(0, DType.FLOAT64) || function.isLinearIn(1, DType.FLOAT64))
                    .isFalse();
        } else {
            boolean additive = function.isAdditive();
            for (int operand = 0; operand < 2; operand++) {
                double most = 0;
                for (int i = 0; i < X.length; i++) {
                    double other = additive ? 0 : Y[(i + 1) % Y.length];
                    double whole = of(function, operand, X[i] + Y[i], other);
                    double parts = of(function, operand, X[i], other) + of(function, operand, Y[i], other);
                    most = Math.max(most, distance(whole, parts));
                }
                assertThat(most < ROUNDING).isEqualTo(function.isLinearIn(operand, DType.FLOAT64));
            }
        }
    }

    private static double of(UnaryFunction function, double x) {
        return function.apply(x, Functions.A, Functions.B);
    }

    private static double of(BinaryFunction function, int operand, double x, double other) {
        return operand == 0 ? function.apply(x, other) : function.apply(other, x);
    }

    private static double distance(double a, double b) {
        return Double.isNaN(a - b) ? Double.POSITIVE_INFINITY : Math.abs(a - b);
    }

    /** The slope functions times a gradient are what central differences of the activation give. */
    @ParameterizedTest
    @EnumSource(Activation.class)
    void shouldHaveTheSlopesOfActivations(Activation activation) {
        double h = 1e-6;
        for (double x : X) {
            double slope = (of(activation.forward(), x + h) - of(activation.forward(), x - h)) / (2 * h);
            assertThat(activation.gradient().apply(x, 3.0)).isCloseTo(3 * slope, within(1e-8));
        }
    }
}
