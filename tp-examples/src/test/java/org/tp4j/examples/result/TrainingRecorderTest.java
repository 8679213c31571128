package org.tp4j.examples.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.tp4j.tensor.TpException;

class TrainingRecorderTest {
    private final TrainingRecorder recorder = new TrainingRecorder();

    @Test
    void shouldWeightLossesByBatchSize() {
        recorder.step(2, 30);
        recorder.step(4, 10);
        recorder.epoch(0.5);
        recorder.step(1, 10);
        recorder.epoch(0.75);

        TrainingResult result = recorder.result();
        assertThat(result.stepLosses()).containsExactly(2.0, 4.0, 1.0);
        assertThat(result.losses().get(0)).isCloseTo(2.5, within(1e-12));
        assertThat(result.finalLoss()).isEqualTo(1);
        assertThat(result.accuracies()).containsExactly(0.5, 0.75);
        assertThat(result.accuracy()).isEqualTo(0.75);
        assertThat(result.samples()).isEqualTo(50);
        assertThat(result.epochs().get(1).number()).isEqualTo(2);
    }

    @Test
    void shouldStopAtALossThatIsNotFinite() {
        recorder.step(2, 30);
        assertThatThrownBy(() -> recorder.step(Double.NaN, 30))
                .isInstanceOf(TpException.class)
                .hasMessage("the loss of step 2 is NaN; HINT: use a smaller --learning-rate");
    }
}
