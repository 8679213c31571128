package org.tp4j.tests.nn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PlanException;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A39: embedding and output layer share one weight. */
class TiedWeightsTest {
    private static final Cases CASE = Cases.of("A39");

    /** logits = embedding(ids) Wᵀ, with W the embedding's table. */
    private static final class Tied extends Layer {
        private final Embedding embed = child("embed", new Embedding(6, 2));
        private final Linear head = child("head", new Linear(embed.weight()));

        @Override
        protected Tensor forward(Tensor ids) {
            return head.apply(embed.apply(ids));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldTrainOneWeightThroughBothUses(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Backend backend = world.backend();
            DType dtype = DType.FLOAT64;
            Tied model = Parallelize.apply(
                    new Tied(),
                    DeviceMesh.of(world, "tp"),
                    Map.of(
                            "embed",
                            new RowwiseParallel(),
                            "head",
                            new ColwiseParallel().withOutput(Placement.invariant())));
            model.materialize(backend, dtype, 1);
            assertThat(model.parameters().keySet()).containsExactly("embed.weight");
            assertThat(model.state().keySet()).containsExactly("embed.weight");
            assertThat(model.parameterCount()).isEqualTo(12);
            model.loadState(Map.of("embed.weight", CASE.tensor(backend, dtype, "W")));
            if (ranks > 1) {
                long[] rows = CASE.longs("vocab_slices/" + ranks + "/" + world.rank());
                assertThat(model.state().get("embed.weight").local().shape().size(0))
                        .isEqualTo(rows[1] - rows[0]);
            }

            Tensor loss = model.apply(CASE.ids(backend, "ids")).crossEntropy(CASE.ids(backend, "labels"));
            CASE.assertIs("loss", loss);
            loss.backward();
            Tensor grad = Gradients.of(model).get("embed.weight");
            CASE.assertIs("grad_W_tied", grad);
            double[] whole = ((DTensor) grad).fullTensor().toDoubles();
            double squares = 0;
            for (double g : whole) {
                squares += g * g;
            }
            assertThat(Math.sqrt(squares)).isCloseTo(CASE.number("grad_norm"), within());
        });
    }

    private static org.assertj.core.data.Offset<Double> within() {
        return org.assertj.core.data.Offset.offset(1e-6); // the tolerance of all cases
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldRefuseToCutTheSharedWeightInTwoWays(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Tied model = new Tied();
            assertThatThrownBy(() -> Parallelize.apply(
                            model,
                            DeviceMesh.of(world, "tp"),
                            Map.of("embed", new ColwiseParallel(), "head", new ColwiseParallel())))
                    .isInstanceOf(PlanException.class)
                    .hasMessageContaining("'embed.weight' is shared with 'head.weight'")
                    .hasMessageContaining("two ways: Shard(1) and Shard(0)")
                    .hasMessageContaining("HINT: give both modules styles that place it alike");
            assertThat(model.embed.weight().layout()).isNull();
            assertThat(model.head.splits()).isEmpty();
        });
    }
}
