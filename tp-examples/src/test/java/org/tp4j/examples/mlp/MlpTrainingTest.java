package org.tp4j.examples.mlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.examples.parity.TrainedModel;
import org.tp4j.examples.parity.TrainingDifference;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.DType;
import org.tp4j.threads.ThreadRanks;

/** Every number of ranks trains the same model. */
class MlpTrainingTest {
    private static final Digits DIGITS = Digits.load();
    private static final int EPOCHS = 5; // of 15; enough to reach the promised accuracy
    private static TrainedModel one;

    @BeforeAll
    static void trainOneRank() {
        one = train(1, MlpSettings.defaults().withEpochs(EPOCHS)).get(0);
    }

    private static List<TrainedModel> train(int ranks, MlpSettings settings) {
        return ThreadRanks.call(ranks, world -> TrainedModel.train(DeviceMesh.of(world, "tp"), settings, DIGITS));
    }

    @Test
    void shouldLearnOnOneRank() {
        assertThat(one.result().accuracy()).isGreaterThanOrEqualTo(0.96);
        assertThat(one.result().finalLoss()).isLessThan(one.result().losses().get(0) / 5);
    }

    @ParameterizedTest
    @CsvSource({"2", "3", "4"})
    void shouldLearnTheSameOnSeveralRanks(int ranks) {
        for (TrainedModel rank : train(ranks, MlpSettings.defaults().withEpochs(EPOCHS))) {
            TrainingDifference difference = TrainingDifference.between(DType.FLOAT32, one, rank);
            assertThat(difference.passed()).as(difference.toString()).isTrue();
            assertThat(rank.result().accuracy()).isGreaterThanOrEqualTo(0.96);
        }
    }

    @Test
    void shouldLearnTheSameInFloat64ToTheLastDigits() {
        MlpSettings settings = MlpSettings.defaults().withDtype(DType.FLOAT64).withEpochs(1);
        TrainingDifference difference = TrainingDifference.between(
                DType.FLOAT64, train(1, settings).get(0), train(3, settings).get(1));
        assertThat(difference.loss()).isLessThan(1e-12);
        assertThat(difference.parameter()).isLessThan(1e-12);
    }

    @Test
    void shouldLearnInBfloat16() {
        MlpSettings settings = MlpSettings.defaults().withDtype(DType.BFLOAT16).withEpochs(3);
        List<TrainedModel> both = train(2, settings);
        assertThat(both.get(0).result().accuracy()).isGreaterThanOrEqualTo(0.9);
        assertThat(both.get(0).result().stepLosses())
                .isEqualTo(both.get(1).result().stepLosses());
    }

    @Test
    void shouldDependOnTheSeed() {
        MlpSettings other = new MlpSettings(256, 1, 64, 3e-3, 0.1, 43, DType.FLOAT32);
        MlpSettings same = MlpSettings.defaults().withEpochs(1);
        TrainingDifference difference = TrainingDifference.between(
                DType.FLOAT32, train(1, same).get(0), train(2, other).get(0));
        assertThat(difference.passed()).isFalse();
    }
}
