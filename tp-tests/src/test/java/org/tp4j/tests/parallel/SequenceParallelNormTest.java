package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.LayerNorm;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A10: the weights of a norm that runs on pieces of the sequence get the gradient of the whole sequence. */
class SequenceParallelNormTest {
    private static final Cases CASE = Cases.of("A10");

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldSumTheGradientsOfNormWeightsOverTheSequence(int ranks) {
        ThreadRanks.run(ranks, world -> {
            for (DType dtype : new DType[] {DType.FLOAT64, DType.FLOAT32}) {
                Backend backend = world.backend();
                DeviceMesh mesh = DeviceMesh.of(world, "tp");
                LayerNorm norm = Parallelize.apply(
                        new LayerNorm(3, CASE.number("eps")), mesh, Map.of("", new SequenceParallel(0)));
                norm.materialize(backend, dtype, 1);
                norm.loadState(Map.of(
                        "weight", CASE.tensor(backend, dtype, "gamma"),
                        "bias", CASE.tensor(backend, dtype, "beta")));
                Tensor x = CASE.tensor(backend, dtype, "X").requiresGrad(true);
                Tensor y = norm.apply(x);
                if (ranks > 1) {
                    long[] rows = CASE.longs("row_slices/" + ranks + "/" + world.rank());
                    assertThat(y.local().shape().size(0)).isEqualTo(rows[1] - rows[0]);
                }
                CASE.assertIs("Y", y);
                y.mul(CASE.tensor(backend, dtype, "G")).sum().backward();
                CASE.assertIs("grad_X", x.grad());

                DTensor pending =
                        (DTensor) norm.parameters().get("weight").tensor().grad();
                assertThat(pending.layout().placement(0)).isEqualTo(Placement.partial());
                Map<String, Tensor> grads = Gradients.of(norm);
                Cases.assertClose("gamma", grads.get("weight").toDoubles(), CASE.doubles("grad_gamma"), dtype);
                Cases.assertClose("beta", grads.get("bias").toDoubles(), CASE.doubles("grad_beta"), dtype);
            }
        });
    }
}
