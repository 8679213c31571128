package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.ParameterGroup;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ParameterUpdate;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Which parameters an optimizer changes, and with which options. */
class ParameterGroupTest {
    private static final CpuBackend CPU = CpuBackend.get();

    private static Tensor numbers(double... elements) {
        return Tensors.of(CPU, elements, elements.length);
    }

    private static Weights pair() {
        Weights weights = new Weights();
        weights.declare("a", Shape.of(1));
        weights.declare("b", Shape.of(1));
        weights.materialize(CPU, DType.FLOAT64, 1);
        weights.loadState(Map.of("a", numbers(1), "b", numbers(1)));
        return weights;
    }

    @Test
    void shouldLeaveVectorsUndecayed() {
        Sequential model = new Sequential(new Linear(3, 4, true), new LayerNorm(4, 1e-5));
        List<ParameterGroup> groups = ParameterGroup.withoutDecayOfVectors(model);
        assertThat(groups.get(0).parameters()).containsOnlyKeys("0.weight");
        assertThat(groups.get(0).weightDecay()).isNull();
        assertThat(groups.get(1).parameters()).containsOnlyKeys("0.bias", "1.weight", "1.bias");
        assertThat(groups.get(1).weightDecay()).isZero();
    }

    @Test
    void shouldUseTheOptionsOfEachGroup() {
        Weights weights = pair();
        weights.gradient("a", numbers(1));
        weights.gradient("b", numbers(1));
        ParameterGroup a = ParameterGroup.of(weights, (name, p) -> name.equals("a"));
        ParameterGroup b = ParameterGroup.of(weights, (name, p) -> name.equals("b"));
        new SGD(
                        List.of(a.withRateFactor(0.5), b.withWeightDecay(3)),
                        SgdOptions.of(0.1).withWeightDecay(1))
                .step();
        assertThat(weights.value("a")).containsExactly(1 - 0.05 * 2);
        assertThat(weights.value("b")).containsExactly(1 - 0.1 * 4);
    }

    @Test
    void shouldSkipFrozenParametersAndThoseWithoutGradientAndCountTheirSteps() {
        Weights weights = pair();
        weights.parameter("b").setTrainable(false);
        Optimizer optimizer = new AdamW(weights, 0.1);
        assertThat(optimizer.state())
                .containsKeys("step", "a.step", "a.m", "a.v")
                .doesNotContainKeys("b.step", "b.m", "b.v");
        weights.gradient("a", numbers(1));
        optimizer.step();
        optimizer.clearGradients();
        optimizer.step();
        assertThat(weights.value("b")).containsExactly(1);
        assertThat(optimizer.state().get("a.step").toLongs()).containsExactly(1);

        weights.parameter("b").setTrainable(true);
        weights.gradient("b", numbers(1));
        optimizer.step();
        assertThat(optimizer.stepCount()).isEqualTo(3);
        assertThat(optimizer.state().get("b.step").toLongs()).containsExactly(1);
        double[] firstStep = {1 * (1 - 0.1 * 0.01) - 0.1 / (1 + 1e-8)};
        assertThat(weights.value("b")).containsExactly(firstStep, org.assertj.core.api.Assertions.within(1e-12));

        Optimizer resumed = new AdamW(weights, 0.1);
        resumed.loadState(optimizer.state());
        assertThat(resumed.stepCount()).isEqualTo(3);
    }

    @Test
    void shouldChangeATiedParameterOnce() {
        Linear first = new Linear(2, 2, false);
        Sequential model = new Sequential(first, new Linear(first.weight()));
        model.materialize(CPU, DType.FLOAT64, 1);
        Optimizer optimizer = new SGD(model, 0.1);
        assertThat(optimizer.parameters()).containsOnlyKeys("0.weight");
        Tensor w = first.weight().tensor();
        double[] before = w.toDoubles();
        w.backward(Tensors.ones(CPU, DType.FLOAT64, Shape.of(2, 2)));
        optimizer.step();
        for (int i = 0; i < before.length; i++) {
            assertThat(w.toDoubles()[i]).isEqualTo(before[i] - 0.1);
        }
        assertThat(optimizer).hasToString("SGD of 1 parameters, 1 steps finished");
    }

    @Test
    void shouldTrainAScalar() {
        Weights weights = new Weights();
        weights.declare("s", Shape.scalar());
        weights.materialize(CPU, DType.FLOAT64, 1);
        double before = weights.value("s")[0];
        weights.gradient("s", Tensors.full(CPU, DType.FLOAT64, Shape.scalar(), 2));
        Optimizer optimizer = new AdamW(weights, 0.1);
        assertThat(optimizer.stepIfFinite()).isTrue();
        assertThat(weights.value("s")[0]).isLessThan(before);
        optimizer.loadState(optimizer.state());
        assertThat(optimizer.state().get("s.m").toDoubles()[0]).isBetween(0.1999, 0.2001);
    }

    /** A custom optimizer: steps by the sign of the gradient. */
    private static final class SignDescent extends Optimizer {
        SignDescent(List<ParameterGroup> groups) {
            super(groups, LearningRateSchedule.constant(0.25), 0, List.of("calls"));
        }

        @Override
        protected void update(ParameterUpdate u) {
            double sign = Math.signum(Tensors.of(u.gradient()).toDoubles()[0]);
            var kernels = u.parameter().backend().elementwise();
            kernels.unary(
                    org.tp4j.tensor.UnaryFunction.SHIFT, u.parameter(), u.parameter(), -u.learningRate() * sign, 0);
            kernels.unary(
                    org.tp4j.tensor.UnaryFunction.SHIFT,
                    u.state().get(0),
                    u.state().get(0),
                    1,
                    0);
        }
    }

    @Test
    void shouldRunACustomOptimizer() {
        Weights weights = pair();
        Optimizer optimizer = new SignDescent(List.of(ParameterGroup.of(weights)));
        weights.gradient("a", numbers(-7));
        optimizer.step();
        assertThat(weights.value("a")).containsExactly(1.25);
        assertThat(optimizer.state().get("a.calls").toDoubles()).containsExactly(1);
        assertThat(optimizer.state().get("b.calls").toDoubles()).containsExactly(0);
    }

    @Test
    void shouldNotDecayAGroupWhoseDecayIsZero() {
        for (boolean adam : new boolean[] {false, true}) {
            Weights weights = pair();
            ParameterGroup a = ParameterGroup.of(weights, (name, p) -> name.equals("a"));
            ParameterGroup b = ParameterGroup.of(weights, (name, p) -> name.equals("b"));
            List<ParameterGroup> groups = List.of(a.withWeightDecay(0), b);
            weights.gradient("a", numbers(0));
            weights.gradient("b", numbers(0));
            Optimizer optimizer = adam
                    ? new AdamW(
                            groups,
                            AdamW.options().learningRate(0.5).weightDecay(0.25).build())
                    : new SGD(groups, SgdOptions.of(0.5).withWeightDecay(0.25));
            optimizer.step();
            assertThat(weights.value("a")).containsExactly(1);
            assertThat(weights.value("b")).containsExactly(1 - 0.5 * 0.25);
        }
    }
}
