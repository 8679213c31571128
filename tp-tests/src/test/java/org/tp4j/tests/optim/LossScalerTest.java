package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Linear;
import org.tp4j.optim.LossScaler;
import org.tp4j.optim.NonFiniteGradientException;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** Loss scaling keeps small gradients, and all ranks decide alike. */
class LossScalerTest {
    private static Linear layer(Rank rank) {
        Linear layer = new Linear(2, 4, false);
        Parallelize.apply(layer, rank.mesh(), Map.of("", new ColwiseParallel()));
        layer.materialize(rank.backend(), DType.FLOAT16, 1);
        return layer;
    }

    private static Tensor input(Rank rank, double value) {
        return Tensors.of(rank.backend(), new double[] {value, value}, 1, 2).cast(DType.FLOAT16);
    }

    private static double weightSum(Linear layer) {
        Tensor weight = layer.parameters().get("weight").tensor();
        return ((DTensor) weight).fullTensor().cast(DType.FLOAT64).sum().item();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldKeepGradientsThatAreTooSmallFor16Bits(int ranks) {
        Ranks.run(ranks, rank -> {
            double tiny = Math.scalb(1.0, -26); // FLOAT16 ends at 2^-24
            for (boolean scales : new boolean[] {false, true}) {
                Linear layer = layer(rank);
                Optimizer optimizer = new SGD(layer, 1);
                LossScaler scaler = new LossScaler();
                Tensor loss =
                        layer.apply(input(rank, 1)).cast(DType.FLOAT32).sum().mul(tiny);
                (scales ? scaler.scale(loss) : loss).backward();
                if (scales) {
                    scaler.unscale(optimizer);
                    scaler.unscale(optimizer); // once is enough
                }
                Tensor gradient = Gradients.of(layer).get("weight");
                double[] all = ((DTensor) gradient).fullTensor().toDoubles();
                assertThat(all).hasSize(8).containsOnly(scales ? tiny : 0);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldPassOverAStepThatOverflowsOnOneRank(int ranks) {
        Ranks.run(ranks, rank -> {
            Linear layer = layer(rank);
            Optimizer optimizer = new SGD(layer, 0.5);
            LossScaler scaler = new LossScaler(1024, 3);
            double before = weightSum(layer);
            // only the last feature's gradient overflows: one rank's alone
            double[] weights = {1e-3, 1e-3, 1e-3, 1000};
            Tensor upstream = DTensors.distribute(
                    Tensors.of(rank.backend(), weights, 1, 4).cast(DType.FLOAT16), rank.mesh(), Placement.shard(1));
            scaler.scale(layer.apply(input(rank, 1)).mul(upstream).sum()).backward();
            assertThat(scaler.step(optimizer)).isFalse();
            assertThat(scaler.scale()).isEqualTo(512);
            assertThat(weightSum(layer)).isEqualTo(before);
            assertThat(optimizer.stepCount()).isZero();
            optimizer.clearGradients();
            for (int step = 1; step <= 3; step++) {
                scaler.scale(layer.apply(input(rank, 1)).sum()).backward();
                assertThat(scaler.step(optimizer)).isTrue();
                assertThat(scaler.scale()).isEqualTo(step < 3 ? 512 : 1024);
                optimizer.clearGradients();
            }
            assertThat(weightSum(layer)).isCloseTo(before - 3 * 8 * 0.5, within(0.05));
        });
    }

    @Test
    void shouldGiveUpWhereNoScaleHelps() {
        Linear layer = new Linear(1, 1, false);
        layer.materialize(CpuBackend.get(), DType.FLOAT32, 1);
        Optimizer optimizer = new SGD(layer, 1);
        LossScaler scaler = new LossScaler(1, 10);
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        optimizer.clearGradients();
                        Tensor x = Tensors.full(CpuBackend.get(), DType.FLOAT32, Shape.of(1, 1), Double.NaN);
                        scaler.scale(layer.apply(x).sum()).backward();
                        assertThat(scaler.step(optimizer)).isFalse();
                    }
                })
                .isInstanceOf(NonFiniteGradientException.class);
    }

    @Test
    void shouldRefuseScalesThatCannotBe() {
        for (double scale : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> new LossScaler(scale, 10)).hasMessageContaining("HINT");
        }
        assertThatThrownBy(() -> new LossScaler(1, 0)).hasMessageContaining("HINT");
    }

    @Test
    void shouldGoOnWhereAnotherRunStopped() {
        LossScaler scaler = new LossScaler();
        scaler.restore(32, 7);
        assertThat(scaler.scale()).isEqualTo(32);
        assertThat(scaler.goodSteps()).isEqualTo(7);
    }
}
