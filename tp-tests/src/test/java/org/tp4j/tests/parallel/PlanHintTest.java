package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.concurrent.Callable;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Hints change the user's program, the plan or a call, and doing what they say helps. */
class PlanHintTest {
    private static final ColwiseParallel COLUMN = new ColwiseParallel();

    private static Tensor run(Callable<? extends Layer> made, Map<String, ? extends ParallelStyle> plan) {
        return ThreadRanks.call(2, world -> {
                    Layer mine = model(made);
                    Parallelize.apply(mine, DeviceMesh.of(world, "tp"), plan);
                    mine.materialize(world.backend(), DType.FLOAT64, 1);
                    Tensor y = mine.apply(Tensors.ones(world.backend(), DType.FLOAT64, Shape.of(3, 4)));
                    y.square().mean().backward();
                    return y.detach();
                })
                .get(0);
    }

    private static Layer model(Callable<? extends Layer> made) {
        try {
            return made.call();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static AbstractThrowableAssert<?, ?> assertRefused(
            Callable<? extends Layer> made, Map<String, ? extends ParallelStyle> plan) {
        return assertThatThrownBy(() -> run(made, plan)).isInstanceOf(LayoutException.class);
    }

    private static Layer mlp() {
        return new Mlp(4, 8, Activation.GELU, true);
    }

    private static Layer swiglu() {
        return new GatedMlp(4, 8, Activation.SILU, false);
    }

    @Test
    void shouldSayThatOnlyTheFirstOfTwoLayersIsInThePlan() {
        assertRefused(PlanHintTest::mlp, Map.of("up_proj", COLUMN))
                .hasMessageStartingWith("linear in module 'down_proj': ")
                .hasMessageEndingWith(
                        "; HINT: of these layers only 'up_proj' is in the plan (ColwiseParallel along tp): add"
                                + " 'down_proj' as RowwiseParallel, or gather the output of 'up_proj':"
                                + " withOutput(Placement.invariant())");
        run(PlanHintTest::mlp, Map.of("up_proj", COLUMN, "down_proj", new RowwiseParallel()));
        run(PlanHintTest::mlp, Map.of("up_proj", COLUMN.withOutput(Placement.invariant())));
    }

    @Test
    void shouldSayThatOnlyOneOfTwoParallelLayersIsInThePlan() {
        assertRefused(PlanHintTest::swiglu, Map.of("gate_proj", COLUMN, "down_proj", new RowwiseParallel()))
                .hasMessageStartingWith("gated_silu: ")
                .hasMessageContaining(
                        "HINT: of these layers only 'gate_proj' and 'down_proj' are in the plan (ColwiseParallel"
                                + " along tp, RowwiseParallel along tp): add 'up_proj' as ColwiseParallel, or gather the output of 'gate_proj': withOutput(Placement.invariant())");
        run(PlanHintTest::swiglu, Map.of("gate_proj", COLUMN, "up_proj", COLUMN, "down_proj", new RowwiseParallel()));
    }

    @Test
    void shouldSayWhoseOutputTheNormNeedsWhole() {
        Callable<Layer> model = () -> new Sequential(new Linear(4, 8, true), new LayerNorm(8, 1e-5));
        assertRefused(model, Map.of("0", COLUMN))
                .hasMessageStartingWith(
                        "layer_norm in module '1': it works on dimension 1 as a whole, which is sharded")
                .hasMessageEndingWith(
                        "; HINT: of these layers only '0' is in the plan (ColwiseParallel along tp): gather the"
                                + " output of '0': withOutput(Placement.invariant())");
        run(model, Map.of("0", COLUMN.withOutput(Placement.invariant())));
    }

    @Test
    void shouldKeepTheHintOfTheOperationWhereThePlanIsNotTheCause() {
        ThreadRanks.run(2, world -> {
            Mlp mlp = new Mlp(4, 8, Activation.GELU, true);
            mlp.materialize(world.backend(), DType.FLOAT64, 1);
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Tensor x =
                    Tensors.ones(world.backend(), DType.FLOAT64, Shape.of(3, 4)).requiresGrad(true);
            DTensor rows = DTensors.distribute(x, mesh, Placement.shard(1));
            assertThatThrownBy(() -> mlp.apply(rows))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("HINT: redistribute operand")
                    .hasMessageNotContaining("in the plan");
        });
    }

    @Test
    void shouldHintAtThePlacementOfLogitsThatBackwardTakes() {
        ThreadRanks.run(2, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Tensor whole =
                    Tensors.ones(world.backend(), DType.FLOAT64, Shape.of(3, 4)).requiresGrad(true);
            DTensor logits = DTensors.distribute(whole, mesh, Placement.shard(1));
            Tensor labels = Tensors.zeros(world.backend(), DType.INT64, Shape.of(3));
            assertThatThrownBy(() -> logits.crossEntropy(labels, CrossEntropyOptions.DEFAULT))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageEndingWith("; HINT: redistribute operand 0 to Invariant on axis 'tp' first");
            logits.redistribute("tp", Placement.invariant())
                    .crossEntropy(labels, CrossEntropyOptions.DEFAULT)
                    .backward();
            assertThat(whole.grad()).isNotNull();
        });
    }
}
