package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.Placement;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Ranks;

/** Memory of optimizers: state, 32-bit copies, and no allocation from step to step. */
@SuppressWarnings("try") // scopes that only own
class OptimizerMemoryTest {
    private static final CpuBackend CPU = CpuBackend.get();
    private static final int STEPS = 60;
    private static final int WARM = 2;

    private static Tensor filled(double value, long size) {
        double[] elements = new double[(int) size];
        Arrays.fill(elements, value);
        return Tensors.of(CPU, elements, size);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldAllocateNothingOnceWarm(int ranks) {
        Ranks.run(ranks, rank -> {
            List<Weights> models = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Weights weights = new Weights();
                weights.declare("a", Shape.of(6000), rank.mesh(), Placement.shard(0));
                weights.declare("b", Shape.of(5000), rank.mesh(), Placement.invariant());
                weights.declare("c", Shape.of(7000), rank.mesh(), Placement.invariant());
                weights.materialize(CPU, DType.BFLOAT16, 1);
                weights.gradient("a", filled(1, 6000));
                weights.gradient("b", filled(1, 5000));
                models.add(weights);
            }
            Optimizer adam = new AdamW(models.get(0), 1e-3);
            Optimizer sgd = new SGD(models.get(1), SgdOptions.of(1e-3).withMomentum(0.9));
            long warm = 0;
            for (int i = 0; i < STEPS; i++) {
                for (Weights weights : models) {
                    GradientClipping.byNorm(weights, 1);
                }
                adam.stepIfFinite();
                adam.step();
                sgd.step();
                rank.all(i); // every rank has come here before the count is read, and none goes on before
                warm = i == WARM - 1 ? CPU.arraysCreated() : warm;
                rank.all(i);
            }
            long created = CPU.arraysCreated() - warm;
            if (ranks == 1) {
                assertThat(created).isZero();
            } else {
                // Ranks share the pool, and may want the same scratch memory at the same moment for the first time at
                // any
                // step; but only so often, where memory that is lost is an array a step and rank at least.
                assertThat(created).isLessThan(STEPS - WARM);
            }
            rank.all(0);
        });
    }

    @Test
    void shouldKeepStateThatOutlivesTheScopeItWasMadeIn() {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(3));
        weights.materialize(CPU, DType.BFLOAT16, 1);
        Optimizer optimizer;
        try (Scope scope = Scope.open()) {
            optimizer = new AdamW(weights, 0.1);
            weights.gradient("w", filled(1, 3));
            optimizer.step();
        }
        optimizer.step();
        assertThat(optimizer.state().get("w.m").toFloats()).hasSize(3);
    }

    /** 1 - 0.001 rounds to 1 in both 16-bit types' neighbourhoods of 1 (bfloat16: 2^-8), and only the copy can move. */
    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"BFLOAT16", "FLOAT16"})
    void shouldNotLoseStepsBelowTheRoundingOf16Bits(DType dtype) {
        double rate = dtype == DType.BFLOAT16 ? 1e-3 : 1e-4;
        for (int ranks = 1; ranks <= 3; ranks++) {
            Ranks.run(ranks, rank -> {
                Weights weights = new Weights();
                weights.declare("w", Shape.of(4), rank.mesh(), Placement.shard(0));
                weights.materialize(CPU, dtype, 1);
                weights.loadState(Map.of("w", filled(1, 4)));
                weights.gradient("w", filled(1, 4));
                Optimizer optimizer = new SGD(weights, rate);
                optimizer.step();
                assertThat(weights.value("w")).containsOnly(1);
                for (int i = 1; i < 100; i++) {
                    optimizer.step();
                }
                Tensor master = optimizer.state().get("w.master");
                assertThat(master.dtype()).isEqualTo(DType.FLOAT32);
                for (double m : Weights.whole(master)) {
                    assertThat(m).isBetween(1 - 100 * rate - 1e-5, 1 - 100 * rate + 1e-5);
                }
                assertThat(weights.value("w")).isEqualTo(Weights.whole(master.cast(dtype)));
            });
        }
    }

    @Test
    void shouldFollowAParameterWrittenBetweenSteps() {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(2));
        weights.materialize(CPU, DType.BFLOAT16, 1);
        weights.loadState(Map.of("w", Tensors.of(CPU, new double[] {1, 1}, 2)));
        Optimizer optimizer = new SGD(weights, 1e-3);
        weights.gradient("w", filled(1, 2));
        optimizer.step();
        weights.loadState(Map.of("w", Tensors.of(CPU, new double[] {1, 5}, 2)));
        optimizer.step();
        float[] master = optimizer.state().get("w.master").toFloats();
        assertThat(master[0]).as("what it rounds to is kept").isEqualTo(1 - 2e-3f);
        assertThat(master[1]).as("what was overwritten is followed").isEqualTo(5 - 1e-3f);
    }

    @Test
    void shouldTakeTheCopyOver() {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(2));
        weights.materialize(CPU, DType.BFLOAT16, 1);
        Optimizer first = new SGD(weights, 1e-4);
        weights.gradient("w", filled(1, 2));
        for (int i = 0; i < 5; i++) {
            first.step();
        }
        float[] master = first.state().get("w.master").toFloats();
        Weights other = new Weights();
        other.declare("w", Shape.of(2));
        other.materialize(CPU, DType.BFLOAT16, 2);
        Optimizer second = new SGD(other, 1e-4);
        second.loadState(first.state());
        other.loadState(weights.state());
        other.gradient("w", filled(1, 2));
        second.step();
        float[] next = second.state().get("w.master").toFloats();
        assertThat(next).containsExactly(master[0] - 1e-4f, master[1] - 1e-4f);
    }

    @Test
    void shouldMarkParametersAsChangedSoThatAStaleGradientIsRefused() {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(2));
        weights.materialize(CPU, DType.FLOAT64, 1);
        Tensor w = weights.parameter("w").tensor();
        Tensor loss = w.square().sum();
        weights.gradient("w", filled(1, 2));
        new SGD(weights, 0.1).step();
        assertThatThrownBy(loss::backward).hasMessageContaining("has been changed in place since");
    }
}
