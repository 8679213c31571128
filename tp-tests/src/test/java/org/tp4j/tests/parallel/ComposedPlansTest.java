package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.comm.engine.FakeGroup;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PlanException;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.meta.MetaBackend;
import org.tp4j.threads.ThreadRanks;

/** Plans compose: on other modules of one axis, and on other axes. */
class ComposedPlansTest {
    private static final Shape INPUT = Shape.of(3, 6);

    private static Sequential model() {
        return new Sequential(new LayerNorm(6, 1e-5), new Mlp(6, 10, Activation.GELU, true), new Linear(6, 7, true));
    }

    private static final Map<String, ParallelStyle> MLP =
            Map.of("1.up_proj", new ColwiseParallel(), "1.down_proj", new RowwiseParallel());

    private static DeviceMesh square(int first, int second) {
        return DeviceMesh.of(
                new FakeGroup(0, first * second),
                MetaBackend.get(),
                List.of(Map.entry("dp", first), Map.entry("tp", second)));
    }

    private static void check(
            int dp, int tp, Supplier<Sequential> made, BiConsumer<Sequential, DeviceMesh> plans, Shape input) {
        Parity.Outcome expected = Parity.one(made, input);
        ThreadRanks.call(dp * tp, world -> {
                    DeviceMesh mesh = DeviceMesh.of(
                            world.group(), world.backend(), List.of(Map.entry("dp", dp), Map.entry("tp", tp)));
                    Sequential model = made.get();
                    plans.accept(model, mesh);
                    return Parity.split(model, world, input);
                })
                .forEach(outcome -> Parity.assertSame(outcome, expected));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldGiveTheSameFromTwoHalvesAsFromTheWholePlan(int ranks) {
        check(
                1,
                ranks,
                ComposedPlansTest::model,
                (model, mesh) -> {
                    Parallelize.apply(model, mesh, "tp", MLP);
                    Parallelize.apply(
                            model, mesh, "tp", Map.of("0", new SequenceParallel(0), "2", new ColwiseParallel()));
                },
                INPUT);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldSplitOtherModulesAlongAnotherAxis(int dp) {
        check(
                dp,
                2,
                ComposedPlansTest::model,
                (model, mesh) -> {
                    Parallelize.apply(model, mesh, "tp", MLP);
                    Parallelize.apply(model, mesh, "dp", Map.of("2", new ColwiseParallel()));
                },
                INPUT);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldCutTheShardsOfTheFirstPlanAgain(int dp) {
        check(
                dp,
                2,
                ComposedPlansTest::model,
                (model, mesh) -> {
                    Parallelize.apply(model, mesh, "tp", MLP);
                    Parallelize.apply(model, mesh, "dp", MLP);
                },
                INPUT);
    }

    /** The rows of the norm lie on both axes; the layer behind it gathers them along one axis and then the other. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldGatherAnInputAlongBothAxes(int dp) {
        check(
                dp,
                2,
                ComposedPlansTest::model,
                (model, mesh) -> {
                    for (String axis : List.of("tp", "dp")) {
                        Parallelize.apply(
                                model,
                                mesh,
                                axis,
                                Map.of(
                                        "0", new SequenceParallel(0),
                                        "1.up_proj", new ColwiseParallel(),
                                        "1.down_proj", new RowwiseParallel()));
                    }
                },
                Shape.of(7, 6));
    }

    @Test
    void shouldRefuseASecondStyleForAModuleAlongAnAxis() {
        Sequential model = model();
        DeviceMesh mesh = square(2, 2);
        Map<String, ParallelStyle> norm = Map.of("0", new SequenceParallel(0));
        Parallelize.apply(model, mesh, "tp", norm);
        assertThatThrownBy(() -> Parallelize.apply(model, mesh, "tp", Map.of("*", new SequenceParallel(1))))
                .isInstanceOf(PlanException.class)
                .hasMessageContaining(
                        "module '0' would be split twice along mesh axis 'tp': by '0' -> SequenceParallel(dim"
                                + " 0) and by '*' -> SequenceParallel(dim 1); HINT: take it out of one of the plans");
        assertThat(model.children().get("0").splits()).containsExactly("SequenceParallel(dim 0) along tp");
        assertThat(model.children().get("1").splits()).isEmpty();
        Parallelize.apply(model, mesh, "dp", norm);
    }

    @Test
    void shouldRecordTheOrderOfTheCuts() {
        Sequential model = model();
        DeviceMesh mesh = square(2, 2);
        Parallelize.apply(model, mesh, "tp", MLP);
        Parallelize.apply(model, mesh, "dp", Map.of("1.up_proj", new ColwiseParallel(), "0", new SequenceParallel(0)));
        assertThat(model.parameters().get("1.up_proj.weight").layout())
                .hasToString("[dp: Shard(0), tp: Shard(0); cut in the order tp, dp]");
        assertThat(model.parameters().get("1.down_proj.weight").layout()).hasToString("[dp: Invariant, tp: Shard(1)]");
        assertThat(model.parameters().get("0.weight").layout()).hasToString("[dp: Invariant, tp: Invariant]");
        assertThat(model.children().get("1").children().get("up_proj").splits())
                .containsExactly("ColwiseParallel along tp", "ColwiseParallel along dp");
    }

    @Test
    void shouldRefuseASecondCutAlongAnAxisAndChangeNothing() {
        Sequential model = model();
        DeviceMesh mesh = square(2, 2);
        Parallelize.apply(model, mesh, "tp", MLP);
        Parallelize.apply(model, mesh, "dp", MLP);
        assertThatThrownBy(() -> Parallelize.apply(
                        model, mesh, "dp", Map.of("2", new ColwiseParallel(), "1.down_*", new RowwiseParallel())))
                .isInstanceOf(PlanException.class);
        assertThatThrownBy(() -> Parallelize.apply(
                        model, mesh, "dp", Map.of("2", new ColwiseParallel(), "*.down_proj", new RowwiseParallel())))
                .isInstanceOf(PlanException.class)
                .hasMessageContaining("parameter '1.down_proj.weight' would be cut twice along mesh axis 'dp'")
                .hasMessageContaining("'1.down_proj' -> RowwiseParallel")
                .hasMessageContaining("'*.down_proj' -> RowwiseParallel");
        assertThat(model.parameters().get("2.weight").layout()).hasToString("[dp: Invariant, tp: Invariant]");
        assertThat(model.children().get("2").splits()).isEmpty();
    }
}
