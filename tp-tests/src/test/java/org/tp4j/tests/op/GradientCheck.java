package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Whole;

/**
 * Compares what backward gives with central differences, in float64, for any function of tensors.
 *
 * <p>The loss is Σ y·g with fixed random g, so that every element of the result counts on its own.
 */
public final class GradientCheck {
    private static final double STEP = 1e-5; // error of the difference: step² f'''/6 + 1e-16 f / step, both about 1e-11

    private final Backend backend;
    private final double tolerance;

    /** A check to within 1e-7 of the larger of 1 and the derivative. */
    public GradientCheck(Backend backend) {
        this(backend, 1e-7);
    }

    /** A check to within {@code tolerance} of the larger of 1 and the derivative. */
    public GradientCheck(Backend backend, double tolerance) {
        this.backend = backend;
        this.tolerance = tolerance;
    }

    /** Checks the derivative with respect to every floating operand. */
    public void check(String what, Function<List<Tensor>, Tensor> function, List<Whole> operands) {
        List<Tensor> leaves = tensors(operands);
        for (Tensor leaf : leaves) {
            leaf.requiresGrad(leaf.dtype().isFloating());
        }
        Tensor y = function.apply(leaves);
        double[] g = weights((int) y.shape().elements());
        y.mul(Whole.of(y.shape(), g).toTensor(backend)).sum().backward();
        for (int i = 0; i < leaves.size(); i++) {
            if (leaves.get(i).requiresGrad()) {
                double[] numerical = numerical(function, operands, i, g);
                compare(what + ", operand " + i, leaves.get(i), numerical);
            }
        }
    }

    private List<Tensor> tensors(List<Whole> operands) {
        return new ArrayList<>(operands.stream().map(o -> o.toTensor(backend)).toList());
    }

    private static double[] weights(int n) {
        Random random = new Random(n);
        double[] g = new double[n];
        for (int i = 0; i < n; i++) {
            g[i] = random.nextDouble() * 2 - 1;
        }
        return g;
    }

    private double[] numerical(Function<List<Tensor>, Tensor> function, List<Whole> operands, int i, double[] g) {
        Whole operand = operands.get(i);
        double[] result = new double[operand.elements().length];
        for (int k = 0; k < result.length; k++) {
            double[] losses = new double[2];
            for (int side = 0; side < 2; side++) {
                double[] moved = operand.elements().clone();
                moved[k] += side == 0 ? STEP : -STEP;
                List<Tensor> in = tensors(operands);
                in.set(i, new Whole(operand.dtype(), operand.shape(), moved).toTensor(backend));
                try (GradMode off = GradMode.noGrad()) {
                    losses[side] = dot(function.apply(in).toDoubles(), g);
                }
            }
            result[k] = (losses[0] - losses[1]) / (2 * STEP);
        }
        return result;
    }

    private static double dot(double[] y, double[] g) {
        double sum = 0;
        for (int i = 0; i < g.length; i++) {
            sum += y[i] * g[i];
        }
        return sum;
    }

    private void compare(String what, Tensor leaf, double[] numerical) {
        Tensor grad = leaf.grad();
        if (grad == null) { // nothing depends on it
            assertThat(numerical).as("%s has no gradient", what).containsOnly(new double[numerical.length]);
            return;
        }
        assertThat(grad.shape()).as(what).isEqualTo(leaf.shape());
        assertThat(grad.dtype()).as(what).isEqualTo(leaf.dtype());
        double[] backward = grad.toDoubles();
        for (int k = 0; k < numerical.length; k++) {
            double allowed = tolerance * Math.max(1, Math.abs(numerical[k]));
            assertThat(Math.abs(backward[k] - numerical[k]))
                    .as("%s, element %d: backward gives %s, differences %s", what, k, backward[k], numerical[k])
                    .isLessThanOrEqualTo(allowed);
        }
    }
}
