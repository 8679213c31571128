package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Parameter;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.NormType;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Case A23: sharded and replicated parameters in one norm, each element once. */
class GlobalNormTest {
    private static final Cases CASE = Cases.of("A23");

    /** A small constant in the divisor is allowed: 4 / 7e6 at most. */
    private static final double TOLERANCE = 1e-6;

    private static Weights weights(Rank rank) {
        Weights weights = new Weights();
        weights.declare("W", Shape.of(4, 2), rank.mesh(), Placement.shard(0));
        weights.declare("b", Shape.of(2), rank.mesh(), Placement.invariant());
        weights.materialize(rank.backend(), DType.FLOAT32, 1);
        weights.gradient("W", CASE.tensor(rank.backend(), DType.FLOAT32, "W_shard0_grad"));
        weights.gradient("b", CASE.tensor(rank.backend(), DType.FLOAT32, "replicated_grad"));
        return weights;
    }

    private static Collection<Parameter> all(Weights weights) {
        return weights.parameters().values();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldHalveAllGradients(int ranks) {
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank);
            double norm = GradientClipping.byNorm(weights, CASE.number("clip_to"));
            assertThat(norm).isEqualTo(CASE.number("norm2"));
            assertThat(weights.gradient("W")).containsExactly(CASE.doubles("W_after"), within(TOLERANCE));
            assertThat(weights.gradient("b")).containsExactly(CASE.doubles("replicated_after"), within(TOLERANCE));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldKnowOtherNorms(int ranks) {
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank);
            assertThat(GradientClipping.norm(all(weights), NormType.INF)).isEqualTo(CASE.number("norm_inf"));
            assertThat(GradientClipping.norm(all(weights), NormType.L1)).isEqualTo(CASE.number("norm_1"));
        });
    }

    @ParameterizedTest
    @CsvSource({"1, 8", "2, 8", "3, 8", "4, 8", "2, 7", "4, 7"})
    void shouldChangeNothingUpToTheLimit(int ranks, double maxNorm) {
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank);
            int version =
                    weights.parameter("W").tensor().grad().local().storage().version();
            assertThat(GradientClipping.byNorm(weights, maxNorm)).isEqualTo(7);
            assertThat(weights.gradient("W")).isEqualTo(CASE.doubles("W_shard0_grad"));
            assertThat(weights.gradient("b")).isEqualTo(CASE.doubles("replicated_grad"));
            assertThat(weights.parameter("W").tensor().grad().local().storage().version())
                    .isEqualTo(version);
        });
    }

    @Test
    void shouldGatherOnceForEachAxisThatCuts() {
        Ranks.run(List.of(2, 2), rank -> {
            Weights weights = new Weights();
            List<Placement> ways = List.of(Placement.invariant(), Placement.shard(0));
            List<Tensor> gradients = new ArrayList<>();
            double squares = 0;
            for (int i = 0; i < 8; i++) {
                weights.declare("p" + i, Shape.of(5, 3), rank.mesh(), ways.get(i % 2), ways.get(i / 2 % 2));
                gradients.add(Tensors.uniform(rank.backend(), DType.FLOAT64, Shape.of(5, 3), -1, 1, 7, i));
                for (double g : gradients.get(i).toDoubles()) {
                    squares += g * g;
                }
            }
            weights.materialize(rank.backend(), DType.FLOAT64, 1);
            for (int i = 0; i < 8; i++) {
                weights.gradient("p" + i, gradients.get(i));
            }
            rank.log().clear();
            double norm = GradientClipping.byNorm(weights, 100);
            assertThat(rank.log().entries())
                    .extracting(e -> e.group() + " " + e.elements())
                    .as("one gather an axis, of one number for each of the four ways to be cut")
                    .containsExactlyInAnyOrder("dp 8", "tp 8");
            assertThat(norm).isCloseTo(Math.sqrt(squares), within(1e-12));
            assertThat(rank.all(norm)).containsOnly(norm);
        });
    }

    @Test
    void shouldSumWhatIsPendingFirst() {
        Ranks.run(2, rank -> {
            Weights weights = new Weights();
            weights.declare("w", Shape.of(2), rank.mesh(), Placement.invariant());
            weights.materialize(rank.backend(), DType.FLOAT64, 1);
            Tensor piece = rank.place(Whole.of(Shape.of(2, 2), 1, 2, 2, 2), Placement.shard(0));
            weights.parameter("w").tensor().mul(piece).sum().backward();
            assertThat(GradientClipping.norm(all(weights), NormType.L2)).isEqualTo(5);
            assertThat(weights.gradient("w")).containsExactly(3, 4);
        });
    }

    @Test
    void shouldCountAParameterOnceThatIsGivenTwice() {
        Ranks.run(2, rank -> {
            List<Parameter> twice = new ArrayList<>(all(weights(rank)));
            twice.addAll(List.copyOf(twice));
            assertThat(GradientClipping.byNorm(twice, 8, NormType.L2)).isEqualTo(7);
        });
    }

    @Test
    void shouldCountNeitherFrozenParametersNorThoseWithoutGradient() {
        Ranks.run(2, rank -> {
            Weights weights = weights(rank);
            weights.parameter("b").setTrainable(false);
            assertThat(GradientClipping.byNorm(weights, 8)).isEqualTo(Math.sqrt(33));
            weights.clearGradients();
            assertThat(GradientClipping.byNorm(weights, 8)).isZero();
        });
    }

    @Test
    void shouldRefuseMeaninglessLimitsAndNorms() {
        assertThatThrownBy(() -> GradientClipping.byNorm(List.of(), -1, NormType.L2))
                .hasMessage("gradients cannot be clipped to a norm of -1.0");
        assertThatThrownBy(() -> NormType.of(3)).hasMessageContaining("3.0; HINT: 1, 2 or infinity");
    }
}
