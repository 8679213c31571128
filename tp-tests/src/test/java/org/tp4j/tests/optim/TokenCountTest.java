package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Gradients;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/**
 * Case A27: the mean over all tokens of a step whose micro batches and ranks hold different numbers of them. Count first,
 * then take sums divided by that count: gradients add up over micro batches and ranks by themselves.
 */
class TokenCountTest {
    private static final Cases CASE = Cases.of("A27");
    private static final int MICRO_BATCHES = (int) CASE.number("micro_batches");
    private static final int PADDED = 3;

    private static Weights weights(Rank rank) {
        Weights weights = new Weights();
        Placement[] everywhere = new Placement[rank.mesh().axisCount()];
        java.util.Arrays.fill(everywhere, Placement.invariant());
        weights.declare("w", Shape.scalar(), rank.mesh(), everywhere);
        weights.materialize(rank.backend(), DType.FLOAT64, 1);
        weights.loadState(java.util.Map.of("w", rank.tensor(Shape.scalar(), CASE.number("w"))));
        return weights;
    }

    private static double[] tokens(Rank rank, int microBatch) {
        return CASE.doubles("a/" + rank.mesh().axis("dp").coordinate() + "/" + microBatch);
    }

    /** The sum of what the ranks hold. */
    private static double total(Tensor pending) {
        return ((DTensor) pending).redistribute("dp", Placement.invariant()).item();
    }

    /** Batches padded to one size with a mask, as with labels that are ignored. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldWeightEveryTokenEqually(int tp) {
        Ranks.run(List.of(2, tp), rank -> {
            Weights weights = weights(rank);
            Tensor[] a = new Tensor[MICRO_BATCHES];
            Tensor[] valid = new Tensor[MICRO_BATCHES];
            double count = 0;
            for (int m = 0; m < MICRO_BATCHES; m++) {
                double[] mine = tokens(rank, m);
                double[] mask = new double[PADDED];
                java.util.Arrays.fill(mask, 0, mine.length, 1);
                a[m] = batch(rank, java.util.Arrays.copyOf(mine, PADDED));
                valid[m] = batch(rank, mask);
                count += total(valid[m].sum());
            }
            assertThat(count).isEqualTo(CASE.number("valid_tokens"));
            double loss = 0;
            for (int m = 0; m < MICRO_BATCHES; m++) {
                Tensor share = weights.parameter("w")
                        .tensor()
                        .mul(a[m])
                        .mul(valid[m])
                        .sum()
                        .div(count);
                share.backward();
                loss += total(share.detach());
            }
            assertStep(weights, loss);
        });
    }

    private static DTensor batch(Rank rank, double[] mine) {
        return DTensors.fromLocal(
                rank.tensor(Shape.of(mine.length), mine), rank.mesh(), Placement.shard(0), Placement.invariant());
    }

    /** Batches as long as they are: a rank without tokens takes an empty one and runs the same modules. */
    @Test
    void shouldCountAnEmptyBatchAsNothing() {
        Ranks.run(List.of(2, 1), rank -> {
            Weights weights = weights(rank);
            double loss = 0;
            for (int m = 0; m < MICRO_BATCHES; m++) {
                DTensor a = batch(rank, tokens(rank, m));
                Tensor share = weights.parameter("w").tensor().mul(a).sum().div(CASE.number("valid_tokens"));
                share.backward();
                loss += total(share.detach());
            }
            assertStep(weights, loss);
        });
    }

    private static void assertStep(Weights weights, double loss) {
        assertThat(loss).isEqualTo(CASE.number("loss"));
        Tensor pending = weights.parameter("w").tensor().grad();
        assertThat(((DTensor) pending).layout().placement(0)).isEqualTo(Placement.partial());
        Optimizer optimizer = new SGD(weights, 0.125);
        optimizer.step();
        assertThat(Weights.whole(Gradients.of(weights).get("w"))).containsExactly(CASE.number("grad_w"));
        assertThat(weights.value("w")).containsExactly(CASE.number("w") - 0.125 * CASE.number("grad_w"));
    }
}
