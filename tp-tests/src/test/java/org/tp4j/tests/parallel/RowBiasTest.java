package org.tp4j.tests.parallel;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cpu.comm.ThreadRanks;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.RowParallelLinear;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;

/** Case A08: the bias of a row-parallel layer is added once, after the reduction. */
class RowBiasTest {
    private static final Cases CASE = Cases.of("A08");

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldAddRowBiasOnceWhenReduced(int ranks) {
        ThreadRanks.run(ranks, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            for (DType dtype : new DType[] {DType.FLOAT64, DType.FLOAT32}) {
                Linear layer = new RowParallelLinear(
                        MeshAxis.only(mesh), 4, 3, new RowParallelLinear.Options().withInputIsParallel(false));
                layer.materialize(world.backend(), dtype, 1);
                layer.loadState(Map.of(
                        "weight",
                        CASE.tensor(world.backend(), dtype, "W"),
                        "bias",
                        CASE.tensor(world.backend(), dtype, "b")));
                Tensor x = CASE.tensor(world.backend(), dtype, "X").requiresGrad(true);
                Tensor y = layer.apply(x);
                CASE.assertIs("Y", y);
                y.mul(CASE.tensor(world.backend(), dtype, "G")).sum().backward();
                CASE.assertIs("grad_X", x.grad());
                Map<String, Tensor> grads = Gradients.of(layer);
                CASE.assertIs("grad_W", grads.get("weight"));
                CASE.assertIs("grad_b", grads.get("bias"));
            }
        });
    }
}
