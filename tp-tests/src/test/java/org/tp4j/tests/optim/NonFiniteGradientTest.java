package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.layout.Placement;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.NonFiniteGradientException;
import org.tp4j.optim.NormType;
import org.tp4j.optim.Optimizer;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** Case A24: one rank's infinity or NaN is every rank's. */
class NonFiniteGradientTest {
    private static final Cases CASE = Cases.of("A24");

    private static Weights weights(Rank rank, String variant) {
        Weights weights = new Weights();
        weights.declare("W", Shape.of(4, 2), rank.mesh(), Placement.shard(0));
        weights.declare("b", Shape.of(2), rank.mesh(), Placement.invariant());
        weights.materialize(rank.backend(), DType.FLOAT32, 1);
        weights.gradient("W", CASE.tensor(rank.backend(), DType.FLOAT32, variant + "W_shard0_grad"));
        weights.gradient("b", CASE.tensor(rank.backend(), DType.FLOAT32, "replicated_grad"));
        return weights;
    }

    private static void assertGradientsUntouched(Weights weights, String variant) {
        assertThat(weights.gradient("W")).isEqualTo(CASE.doubles(variant + "W_shard0_grad"));
        assertThat(weights.gradient("b")).isEqualTo(CASE.doubles("replicated_grad"));
    }

    @ParameterizedTest
    @CsvSource({
        "1, ''",
        "2, ''",
        "3, ''",
        "4, ''",
        "1, variant_nan/",
        "2, variant_nan/",
        "3, variant_nan/",
        "4, variant_nan/"
    })
    void shouldThrowOnEveryRankIfRequested(int ranks, String variant) {
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank, variant);
            NonFiniteGradientException error = catchThrowableOfType(
                    NonFiniteGradientException.class,
                    () -> GradientClipping.byNorm(
                            weights.parameters().values(), CASE.number("max_norm"), NormType.L2, true));
            assertThat(error.norm()).isEqualTo(Double.valueOf(CASE.number(variant + "norm_every_rank")));
            boolean here = rank.number() == List.of(0, 1, 1, 2).get(ranks - 1);
            assertThat(error.parameters()).isEqualTo(here ? List.of("W") : List.of());
            assertThat(error)
                    .hasMessageContaining("the norm of all gradients is " + error.norm())
                    .hasMessageContaining(
                            here
                                    ? "on this rank the gradients of [W] are not finite"
                                    : "every element on this rank is finite")
                    .hasMessageContaining("HINT: a lower learning rate, or Optimizer.stepIfFinite()");
            assertGradientsUntouched(weights, variant);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "1, ''",
        "2, ''",
        "3, ''",
        "4, ''",
        "1, variant_nan/",
        "2, variant_nan/",
        "3, variant_nan/",
        "4, variant_nan/"
    })
    void shouldClipNothingOtherwise(int ranks, String variant) {
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank, variant);
            for (NormType type : NormType.values()) {
                assertThat(GradientClipping.byNorm(weights.parameters().values(), CASE.number("max_norm"), type))
                        .isEqualTo(Double.valueOf(CASE.number(variant + "norm_every_rank")));
                assertGradientsUntouched(weights, variant);
            }
        });
    }

    @ParameterizedTest
    @CsvSource({
        "1, ''",
        "2, ''",
        "3, ''",
        "4, ''",
        "1, variant_nan/",
        "2, variant_nan/",
        "3, variant_nan/",
        "4, variant_nan/"
    })
    void shouldSkipTheStepTogether(int ranks, String variant) {
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank, variant);
            double[] before = weights.value("W");
            double[] bias = weights.value("b");
            Optimizer optimizer = new AdamW(weights, 0.1);
            assertThat(optimizer.stepIfFinite()).isFalse();
            assertThat(optimizer.stepCount()).isZero();
            assertThat(weights.value("W")).isEqualTo(before);
            assertThat(weights.value("b")).isEqualTo(bias);
            assertThat(Weights.whole(optimizer.state().get("W.m"))).containsOnly(0);
            assertThat(optimizer.state().get("b.step").toLongs()).containsExactly(0);

            optimizer.clearGradients();
            weights.gradient("b", CASE.tensor(rank.backend(), DType.FLOAT32, "replicated_grad"));
            assertThat(optimizer.stepIfFinite()).isTrue();
            assertThat(optimizer.stepCount()).isEqualTo(1);
            assertThat(weights.value("b")).isNotEqualTo(bias);
        });
    }
}
