package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelLinearOptions;
import org.tp4j.parallel.RowParallelLinear;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A08: the bias of a row-parallel layer is added once, after the reduction. */
class RowBiasTest {
    private static final Cases CASE = Cases.of("A08");

    private static Linear layer(DeviceMesh mesh, Backend backend, DType dtype, boolean inputIsParallel) {
        Linear layer = new RowParallelLinear(MeshAxis.only(mesh), 4, 3, inputIsParallel, new ParallelLinearOptions());
        layer.materialize(backend, dtype, 1);
        layer.loadState(Map.of(
                "weight", CASE.tensor(backend, dtype, "W"),
                "bias", CASE.tensor(backend, dtype, "b")));
        return layer;
    }

    @ParameterizedTest
    @CsvSource({"1,FLOAT64", "2,FLOAT64", "3,FLOAT64", "4,FLOAT64", "1,FLOAT32", "2,FLOAT32", "3,FLOAT32", "4,FLOAT32"})
    void shouldAddRowBiasOnceWhenReduced(int ranks, DType dtype) {
        ThreadRanks.run(ranks, world -> {
            Backend backend = world.backend();
            Linear layer = layer(DeviceMesh.of(world, "tp"), backend, dtype, false);
            Tensor x = CASE.tensor(backend, dtype, "X").requiresGrad(true);
            Tensor y = layer.apply(x);
            CASE.assertIs("Y", y);
            y.mul(CASE.tensor(backend, dtype, "G")).sum().backward();
            CASE.assertIs("grad_X", x.grad());
            assertParameters(layer);
        });
    }

    @ParameterizedTest
    @CsvSource({"1,FLOAT64", "2,FLOAT64", "3,FLOAT64", "4,FLOAT64", "2,FLOAT32", "3,FLOAT32"})
    void shouldTakeAnInputThatIsSplitAlready(int ranks, DType dtype) {
        ThreadRanks.run(ranks, world -> {
            Backend backend = world.backend();
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Linear layer = layer(mesh, backend, dtype, true);
            long from = CASE.longs("in_slices/" + ranks + "/" + world.rank())[0];
            long to = CASE.longs("in_slices/" + ranks + "/" + world.rank())[1];
            Tensor mine =
                    CASE.tensor(backend, dtype, "X").slice(1, from, to).detach().requiresGrad(true);
            Tensor y = layer.apply(mine);
            CASE.assertIs("Y", y);
            y.mul(CASE.tensor(backend, dtype, "G")).sum().backward();
            CASE.assertIs("grad_X", DTensors.fromLocal(mine.grad(), mesh, Placement.shard(1)));
            assertParameters(layer);
        });
    }

    private static void assertParameters(Linear layer) {
        Map<String, Tensor> grads = Gradients.of(layer);
        CASE.assertIs("grad_W", grads.get("weight"));
        CASE.assertIs("grad_b", grads.get("bias"));
        // the same on every rank, whole, without asking the others
        Cases.assertClose("grad_b", grads.get("bias").toDoubles(), CASE.doubles("grad_b"), DType.FLOAT32);
        assertThat(grads).hasSize(2);
    }
}
