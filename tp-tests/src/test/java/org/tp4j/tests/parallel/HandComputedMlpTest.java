package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Mlp;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/**
 * An MLP small enough to compute by hand: x = [1, 2] times W1 = [[1, 0, 1, 2], [0, 1, 1, -1]] is [1, 2, 3, 0]; ReLU leaves it; times
 * W2 = [[1, 0], [0, 1], [1, 1], [2, -1]] is [4, 5]. Every sum is of small integers, so that results are exact.
 */
class HandComputedMlpTest {
    private static final Map<String, ParallelStyle> PLAN =
            Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel());

    private static final float[] W1 = {1, 0, 1, 2, 0, 1, 1, -1}; // [in, out] as on paper
    private static final float[] W2 = {1, 0, 0, 1, 1, 1, 2, -1};

    private static Mlp mlp(DeviceMesh mesh, Backend backend, float[] b1, float[] b2) {
        Mlp mlp = Parallelize.apply(new Mlp(2, 4, Activation.RELU, true), mesh, PLAN);
        mlp.materialize(backend, DType.FLOAT32, 1);
        mlp.loadState(Map.of(
                "up_proj.weight", Tensors.of(backend, W1, 2, 4).transpose(0, 1),
                "up_proj.bias", Tensors.of(backend, b1, 4),
                "down_proj.weight", Tensors.of(backend, W2, 4, 2).transpose(0, 1),
                "down_proj.bias", Tensors.of(backend, b2, 2)));
        return mlp;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldGiveFourAndFive(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mlp mlp = mlp(DeviceMesh.of(world, "tp"), world.backend(), new float[4], new float[2]);
            Tensor x = Tensors.of(world.backend(), new float[] {1, 2}, 1, 2).requiresGrad(true);
            Tensor y = mlp.apply(x);
            assertThat(y.toFloats()).containsExactly(4, 5);
            y.sum().backward();
            // dH = [1, 1, 2, 1] where the product is positive: the last is 0, and so is its gradient
            assertThat(x.grad().local().toFloats()).containsExactly(3, 3);
            Map<String, Tensor> grads = Gradients.of(mlp);
            assertThat(Parity.whole(grads.get("up_proj.weight"))).containsExactly(1, 2, 1, 2, 2, 4, 0, 0);
            assertThat(Parity.whole(grads.get("down_proj.weight"))).containsExactly(1, 2, 3, 0, 1, 2, 3, 0);
            assertThat(Parity.whole(grads.get("up_proj.bias"))).containsExactly(1, 1, 2, 0);
            assertThat(Parity.whole(grads.get("down_proj.bias"))).containsExactly(1, 1);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldAddEachBiasOnce(int ranks) {
        ThreadRanks.run(ranks, world -> {
            // [1, 2, 3, 0] + b1 = [2, -1, 3, 4] → [2, 0, 3, 4]; times W2 = [13, -1]; + b2 = [113, 199]
            Mlp mlp =
                    mlp(DeviceMesh.of(world, "tp"), world.backend(), new float[] {1, -3, 0, 4}, new float[] {100, 200});
            Tensor x = Tensors.of(world.backend(), new float[] {1, 2}, 1, 2).requiresGrad(true);
            Tensor y = mlp.apply(x);
            assertThat(y.toFloats()).containsExactly(113, 199);
            y.sum().backward();
            // dH = [1, 0, 2, 1]; dX = dH W1ᵀ
            assertThat(x.grad().toFloats()).containsExactly(1 + 2 + 2, 2 - 1);
            Map<String, Tensor> grads = Gradients.of(mlp);
            assertThat(Parity.whole(grads.get("up_proj.bias"))).containsExactly(1, 0, 2, 1);
            assertThat(Parity.whole(grads.get("down_proj.bias"))).containsExactly(1, 1);
        });
    }

    @ParameterizedTest
    @CsvSource({"2,3", "3,4", "4,1"})
    void shouldGiveTheSameForAnInputOfMoreDimensions(int ranks, int rows) {
        ThreadRanks.run(ranks, world -> {
            Mlp mlp = mlp(DeviceMesh.of(world, "tp"), world.backend(), new float[4], new float[2]);
            Tensor x = Tensors.of(world.backend(), new float[] {1, 2}, 1, 1, 2).expand(2, rows, 2);
            float[] y = mlp.apply(x).toFloats();
            assertThat(y).hasSize(2 * rows * 2);
            for (int i = 0; i < y.length; i += 2) {
                assertThat(new float[] {y[i], y[i + 1]}).containsExactly(4, 5);
            }
        });
    }
}
