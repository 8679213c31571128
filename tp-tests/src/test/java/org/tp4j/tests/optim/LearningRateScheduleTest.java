package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.Cases;

/** Case A26: the rate depends on the number of finished steps alone. */
class LearningRateScheduleTest {
    private static final Cases CASE = Cases.of("A26");
    private static final double[] RATES = CASE.doubles("lr_by_finished_steps");
    private static final double LAST_DIGIT = 1e-12;

    private static LearningRateSchedule cosine() {
        return LearningRateSchedule.cosine(
                CASE.number("base"), CASE.number("min"), (long) CASE.number("warmup"), (long) CASE.number("total"));
    }

    private static Optimizer optimizer(Weights weights) {
        return new SGD(weights, SgdOptions.of(cosine()));
    }

    private static Weights weights() {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(1));
        weights.materialize(CpuBackend.get(), DType.FLOAT64, 1);
        return weights;
    }

    /** The rate with which the optimizer moves w. */
    private static double step(Weights weights, Optimizer optimizer) {
        double before = weights.value("w")[0];
        optimizer.clearGradients();
        weights.gradient("w", Tensors.of(CpuBackend.get(), new double[] {1}, 1));
        optimizer.step();
        return before - weights.value("w")[0];
    }

    @Test
    void shouldFollowTheFormula() {
        for (int k = 0; k < RATES.length; k++) {
            assertThat(cosine().rate(k)).as("after %d steps", k).isCloseTo(RATES[k], within(LAST_DIGIT));
        }
    }

    @Test
    void shouldStepWithTheRatesOfTheTable() {
        Weights weights = weights();
        Optimizer optimizer = optimizer(weights);
        for (double rate : RATES) {
            assertThat(optimizer.learningRate()).isCloseTo(rate, within(LAST_DIGIT));
            assertThat(step(weights, optimizer)).isCloseTo(rate, within(LAST_DIGIT));
        }
    }

    @Test
    void shouldContinueWithTheSameRatesAfterResuming() {
        for (long saved : CASE.longs("save_after")) {
            Weights weights = weights();
            Optimizer first = optimizer(weights);
            for (int k = 0; k < saved; k++) {
                step(weights, first);
            }
            Optimizer resumed = optimizer(weights);
            resumed.loadState(first.state());
            for (int k = (int) saved; k < RATES.length; k++) {
                assertThat(step(weights, resumed))
                        .as("saved after %d, step after %d", saved, k)
                        .isCloseTo(RATES[k], within(LAST_DIGIT));
            }
        }
    }

    @Test
    void shouldRiseAndFallLinearly() {
        LearningRateSchedule linear = LearningRateSchedule.linear(1, 0.2, 2, 6);
        double[] expected = {0.5, 1, 1, 0.8, 0.6, 0.4, 0.2, 0.2};
        for (int k = 0; k < expected.length; k++) {
            assertThat(linear.rate(k)).isCloseTo(expected[k], within(LAST_DIGIT));
        }
        assertThat(LearningRateSchedule.linear(1, 0, 0, 4).rate(0)).isEqualTo(1);
    }

    @Test
    void shouldRiseAndStay() {
        LearningRateSchedule constant = LearningRateSchedule.constant(0.5, 2);
        assertThat(new double[] {constant.rate(0), constant.rate(1), constant.rate(2), constant.rate(1000)})
                .containsExactly(0.25, 0.5, 0.5, 0.5);
        assertThat(LearningRateSchedule.constant(0.5).rate(0)).isEqualTo(0.5);
    }

    @Test
    void shouldRefuseMeaninglessNumbers() {
        assertThatThrownBy(() -> LearningRateSchedule.constant(Double.NaN)).hasMessageContaining("was NaN");
        assertThatThrownBy(() -> LearningRateSchedule.cosine(0.1, 0.2, 0, 10))
                .hasMessageContaining("between 0 and the base rate 0.1, was 0.2");
        assertThatThrownBy(() -> LearningRateSchedule.linear(0.1, 0, 11, 10))
                .hasMessageContaining("a warm-up of 11 steps of 10 in total; HINT: 0 <= warmupSteps <= totalSteps");
        assertThatThrownBy(() -> cosine().rate(-1)).hasMessageContaining("cannot be -1");
        Weights weights = weights();
        Optimizer broken = new SGD(weights, SgdOptions.of(k -> -0.1));
        assertThatThrownBy(broken::step).hasMessageContaining("the learning rate after 0 steps must be finite");
    }
}
