package org.tp4j.tests.parallel;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.layout.DTensor;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.ColumnParallelLinear;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelLinearOptions;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A09: a column-parallel output of uneven pieces, gathered or not. */
class GatheredOutputTest {
    private static final Cases CASE = Cases.of("A09");
    private static final DType[] TYPES = {DType.FLOAT64, DType.FLOAT32};

    private static Linear layer(
            DeviceMesh mesh, Backend backend, DType dtype, boolean gatherOutput, ParallelLinearOptions options) {
        Linear layer = new ColumnParallelLinear(MeshAxis.only(mesh), 3, 5, gatherOutput, options);
        layer.materialize(backend, dtype, 1);
        layer.loadState(Map.of(
                "weight", CASE.tensor(backend, dtype, "W"),
                "bias", CASE.tensor(backend, dtype, "b")));
        return layer;
    }

    private static void assertBackward(Linear layer, Tensor x, Tensor y) {
        y.mul(CASE.tensor(y.backend(), y.dtype(), "G")).sum().backward();
        CASE.assertIs("grad_X", x.grad());
        Map<String, Tensor> grads = Gradients.of(layer);
        CASE.assertIs("grad_W", grads.get("weight"));
        CASE.assertIs("grad_b", grads.get("bias"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldGatherUnevenPiecesInTheOrderOfTheWeight(int ranks) {
        ThreadRanks.run(ranks, world -> {
            for (DType dtype : TYPES) {
                Linear layer =
                        layer(DeviceMesh.of(world, "tp"), world.backend(), dtype, true, new ParallelLinearOptions());
                Tensor x = CASE.tensor(world.backend(), dtype, "X").requiresGrad(true);
                Tensor y = layer.apply(x);
                CASE.assertIs("Y", y);
                Cases.assertClose("Y on this rank", y.toDoubles(), CASE.doubles("Y"), dtype);
                assertBackward(layer, x, y);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldLeavePiecesOnTheirRanksOtherwise(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Linear layer = layer(
                    DeviceMesh.of(world, "tp"), world.backend(), DType.FLOAT64, false, new ParallelLinearOptions());
            Tensor x = CASE.tensor(world.backend(), DType.FLOAT64, "X").requiresGrad(true);
            Tensor y = layer.apply(x);
            if (ranks > 1) {
                double[] piece = CASE.doubles("Y_by_rank/" + ranks + "/" + world.rank());
                Cases.assertClose("piece", y.local().toDoubles(), piece, DType.FLOAT64);
            }
            assertBackward(layer, x, y);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldLeaveTheBiasToTheCallerIfRequested(int ranks) {
        ThreadRanks.run(ranks, world -> {
            for (boolean gather : new boolean[] {false, true}) {
                Linear layer = layer(
                        DeviceMesh.of(world, "tp"),
                        world.backend(),
                        DType.FLOAT64,
                        gather,
                        new ParallelLinearOptions().withSkipBiasAdd(true));
                Tensor x = CASE.tensor(world.backend(), DType.FLOAT64, "X").requiresGrad(true);
                DTensor product = (DTensor) layer.apply(x);
                Tensor bias = layer.bias().tensor();
                Tensor y = product.add(
                        gather
                                ? ((DTensor) bias)
                                        .redistribute(
                                                product.layout().placements().get(0))
                                : bias);
                CASE.assertIs("Y", y);
                assertBackward(layer, x, y);
            }
        });
    }
}
