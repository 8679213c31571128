package org.tp4j.examples.parity;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.examples.result.TrainingResult;
import org.tp4j.tensor.DType;

class TrainingDifferenceTest {
    private static final TrainedModel ONE = trained(0.5, 1);

    private static TrainedModel trained(double loss, double value) {
        TrainingResult result = new TrainingResult(List.of(), List.of(2.0, loss), 1, 1, 1);
        return new TrainedModel(result, Map.of("a", new double[] {3}, "b", new double[] {7, value}));
    }

    @Test
    void shouldPassEqualTrainings() {
        TrainingDifference difference = TrainingDifference.between(DType.FLOAT64, ONE, trained(0.5, 1));
        assertThat(difference.loss()).isZero();
        assertThat(difference.parameter()).isZero();
        assertThat(difference.passed()).isTrue();
    }

    @Test
    void shouldNameTheWorstParameter() {
        TrainingDifference difference = TrainingDifference.between(DType.FLOAT32, ONE, trained(0.5, 1.5));
        assertThat(difference.worstParameter()).isEqualTo("b");
        assertThat(difference.parameter()).isEqualTo(0.5);
        assertThat(difference.passed()).isFalse();
    }

    @Test
    void shouldFailDifferentLosses() {
        TrainingDifference difference = TrainingDifference.between(DType.FLOAT32, ONE, trained(0.75, 1));
        assertThat(difference.loss()).isEqualTo(0.25);
        assertThat(difference.passed()).isFalse();
    }

    @Test
    void shouldFailANaN() {
        TrainingDifference losses = TrainingDifference.between(DType.FLOAT32, ONE, trained(Double.NaN, 1));
        assertThat(losses.loss()).isInfinite();
        assertThat(losses.passed()).isFalse();
        TrainingDifference values = TrainingDifference.between(DType.FLOAT32, ONE, trained(0.5, Double.NaN));
        assertThat(values.parameter()).isInfinite();
        assertThat(values.passed()).isFalse();
    }
}
