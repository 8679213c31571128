package org.tp4j.tests.autograd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** What looks global is global, or is refused with the way to have it. */
class WholeValuesTest {
    private static final double[] VALUES = {1, 2, 3, 4};

    private static DTensor placed(Rank rank, Placement placement, double... values) {
        return rank.place(Whole.of(Shape.of(values.length), values), placement);
    }

    private static void assertRefused(String call, String part, ThrowingCallable action) {
        assertThatThrownBy(action)
                .isInstanceOf(LayoutException.class)
                .hasMessageStartingWith(call + "() of a tensor [4] laid out [tp: ")
                .hasMessageContaining("of which this rank holds " + part)
                .hasMessageEndingWith("; HINT: fullTensor()." + call + "() gives the whole on every rank, local()."
                        + call + "() this rank's part");
    }

    @Test
    void shouldRefuseToShowAPartAsTheWhole() {
        Ranks.run(2, rank -> {
            DTensor cut = placed(rank, Placement.shard(0), VALUES);
            assertRefused("toDoubles", "[2]", cut::toDoubles);
            assertRefused("toFloats", "[2]", cut::toFloats);
            assertRefused("toLongs", "[2]", cut::toLongs);
            assertThat(cut.fullTensor().toDoubles()).containsExactly(VALUES);
            int first = 2 * rank.number();
            assertThat(cut.local().toDoubles()).containsExactly(VALUES[first], VALUES[first + 1]);
            DTensor pending = placed(rank, Placement.partial(), VALUES);
            assertRefused("toDoubles", "a term [4]", pending::toDoubles);
            assertThat(pending.fullTensor().toDoubles()).containsExactly(VALUES);
            assertThat(cut.toString()).contains("Shard(0)"); // shows what is here, and never communicates
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldShowWhatEveryRankHoldsWhole(int ranks) {
        Ranks.run(ranks, rank -> {
            assertThat(placed(rank, Placement.invariant(), VALUES).toDoubles()).containsExactly(VALUES);
            assertThat(placed(rank, Placement.replicate(), VALUES).toFloats()).containsExactly(1, 2, 3, 4);
            if (ranks == 1) {
                assertThat(placed(rank, Placement.shard(0), VALUES).toDoubles()).containsExactly(VALUES);
                assertThat(placed(rank, Placement.partial(), VALUES).toDoubles())
                        .containsExactly(VALUES);
            }
        });
    }

    @Test
    void shouldRefuseTheItemOfWhichOneRankHoldsAll() {
        Ranks.run(
                2,
                rank -> assertThatThrownBy(
                                () -> placed(rank, Placement.shard(0), 7).item())
                        .isInstanceOf(LayoutException.class)
                        .hasMessageContaining("HINT: fullTensor()"));
    }

    @Test
    void shouldSetAGradient() {
        Ranks.run(2, rank -> {
            DTensor cut = placed(rank, Placement.shard(0), VALUES);
            assertThatThrownBy(() -> cut.setGrad(rank.tensor(Shape.of(4), 5, 6, 7, 8)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("does not require a gradient; HINT: only leaves with requiresGrad(true)");
            cut.requiresGrad(true);
            DTensor given = placed(rank, Placement.shard(0), 5, 6, 7, 8);
            cut.setGrad(given);
            assertThat(rank.value((DTensor) cut.grad())).containsExactly(5, 6, 7, 8);
            assertThat(((DTensor) cut.grad()).layout()).isEqualTo(cut.layout());
            cut.mul(cut).sum().backward(); // adds to it, and leaves what was given alone
            assertThat(rank.value((DTensor) cut.grad())).containsExactly(7, 10, 13, 16);
            assertThat(rank.value(given)).containsExactly(5, 6, 7, 8);
            cut.setGrad(null);
            assertThat(cut.grad()).isNull();
            assertThatThrownBy(() -> cut.setGrad(rank.tensor(Shape.of(2), 1, 2)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is set to float64[2]; HINT: it has the same shape and a float type");
            assertThatThrownBy(() -> cut.mul(cut).setGrad(given)).hasMessageContaining("that was computed by mul");
        });
    }

    @Test
    void shouldCutAWholeGradientLikeItsLeaf() {
        Ranks.run(2, rank -> {
            DTensor cut = placed(rank, Placement.shard(0), VALUES);
            cut.requiresGrad(true);
            cut.setGrad(rank.tensor(Shape.of(4), 5, 6, 7, 8));
            assertThat(rank.value((DTensor) cut.grad())).containsExactly(5, 6, 7, 8);
        });
    }
}
