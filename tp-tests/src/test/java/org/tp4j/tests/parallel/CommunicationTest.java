package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** What blocks communicate, collective by collective, once the first pass has compared the ranks' inputs. */
class CommunicationTest {
    private static final long N = 6; // rows
    private static final long D = 8;
    private static final long FF = 12;

    private static final ColwiseParallel COLUMN = new ColwiseParallel();
    private static final RowwiseParallel ROW = new RowwiseParallel();

    private static Recorded record(
            World world,
            Supplier<? extends Layer> made,
            Map<String, ? extends ParallelStyle> plan,
            Function<DeviceMesh, Tensor> input) {
        return Recorded.run(world, made.get(), plan, input, List.of(Map.entry("tp", world.size())));
    }

    private static Recorded record(
            int ranks, Supplier<? extends Layer> model, Map<String, ? extends ParallelStyle> plan) {
        return record(ranks, model, plan, true);
    }

    private static Recorded record(
            int ranks, Supplier<? extends Layer> model, Map<String, ? extends ParallelStyle> plan, boolean gradient) {
        List<Recorded> all = ThreadRanks.call(
                ranks,
                world -> record(
                        world,
                        model,
                        plan,
                        mesh -> Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(N, D), 0, 1, 1, 1)
                                .requiresGrad(gradient)));
        all.forEach(calls -> assertThat(calls).isEqualTo(all.get(0)));
        return all.get(0);
    }

    private static List<String> text(List<CommunicationLog.Entry> entries) {
        return entries.stream()
                .map(e -> e.kind() + " " + e.elements() + " in " + e.modulePath())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldAllReduceOnceForwardAndOnceBackwardInAnMlp(int ranks) {
        Recorded calls =
                record(ranks, () -> new Mlp(D, FF, Activation.GELU, true), Map.of("up_proj", COLUMN, "down_proj", ROW));
        assertThat(text(calls.forward())).containsExactly("allReduce " + N * D + " in down_proj");
        assertThat(text(calls.backward())).containsExactly("allReduce " + N * D + " in up_proj");
        assertThat(calls.sums()).isEmpty();
        assertThat(calls.forward().get(0).group()).isEqualTo("tp");
        assertThat(calls.forward().get(0).dtype()).isEqualTo(DType.FLOAT32);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldShareOneAllReduceBetweenGateAndUp(int ranks) {
        Recorded calls = record(
                ranks,
                () -> new GatedMlp(D, FF, Activation.SILU, false),
                Map.of("gate_proj", COLUMN, "up_proj", COLUMN, "down_proj", ROW));
        assertThat(text(calls.forward())).containsExactly("allReduce " + N * D + " in down_proj");
        assertThat(text(calls.backward())).containsExactly("allReduce " + N * D + " in gate_proj");
        assertThat(calls.sums()).isEmpty();
    }

    @Test
    void shouldNotSumAGradientThatIsNotNeeded() {
        Recorded calls = record(
                2, () -> new Mlp(D, FF, Activation.GELU, true), Map.of("up_proj", COLUMN, "down_proj", ROW), false);
        assertThat(text(calls.forward())).containsExactly("allReduce " + N * D + " in down_proj");
        assertThat(calls.backward()).isEmpty();
    }

    @Test
    void shouldCommunicateNothingOnOneRankOrWithoutAPlan() {
        for (int ranks : new int[] {1, 2}) {
            Recorded calls = record(
                    ranks,
                    () -> new Mlp(D, FF, Activation.GELU, true),
                    ranks == 1 ? Map.of("up_proj", COLUMN, "down_proj", ROW) : Map.of());
            boolean alone = calls.forward().stream().allMatch(e -> e.groupSize() == 1);
            assertThat(ranks == 1 ? alone : calls.forward().isEmpty()).isTrue();
            assertThat(calls.backward().stream().allMatch(e -> e.groupSize() == 1))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldShowTheTrafficOfAWrongPairing(int ranks) {
        Recorded calls = record(
                ranks,
                () -> new Mlp(D, FF, Activation.GELU, true),
                Map.of(
                        "up_proj", ROW.withInput(Placement.invariant()),
                        "down_proj", COLUMN.withOutput(Placement.invariant())));
        // the hidden rows, larger than the model's, are summed and the result is gathered; backward likewise
        assertThat(text(calls.forward()))
                .containsExactly("allReduce " + N * FF + " in up_proj", "allGather " + N * D + " in down_proj");
        assertThat(text(calls.backward()))
                .containsExactly("allReduce " + N * FF + " in down_proj", "allGather " + N * D + " in up_proj");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void shouldGatherAndScatterAroundTheProductsUnderSequenceParallelism(int ranks) {
        Recorded calls = ThreadRanks.call(
                        ranks,
                        world -> record(
                                world,
                                () -> new Sequential(new LayerNorm(D, 1e-5), new Mlp(D, FF, Activation.GELU, true)),
                                Map.of(
                                        "0",
                                        new SequenceParallel(0),
                                        "1.up_proj",
                                        COLUMN,
                                        "1.down_proj",
                                        ROW.withOutput(Placement.shard(0))),
                                mesh -> DTensors.distribute(
                                        Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(N, D), 0, 1, 1, 1)
                                                .requiresGrad(true),
                                        mesh,
                                        Placement.shard(0))))
                .get(0);
        assertThat(text(calls.forward()))
                .containsExactly("allGather " + N * D + " in 1.up_proj", "reduceScatter " + N * D + " in 1.down_proj");
        assertThat(text(calls.backward()))
                .containsExactly(
                        "allGather " + N * D + " in 1.down_proj",
                        "allGather " + N * D + " in 1.up_proj", // of X, of which only the shard was kept: under dX
                        "reduceScatter " + N * D + " in 1.up_proj",
                        "allGather " + N * D + " in "); // the plain input's own gradient, outside of the model
        // norm weight and bias and the row bias, 3 D numbers, in one call
        assertThat(text(calls.sums())).containsExactly("allReduce " + 3 * D + " in ");
    }

    @Test
    void shouldCompareTheInputsOfTheFirstPassAlone() {
        ThreadRanks.run(2, world -> {
            CommunicationLog log = new CommunicationLog();
            DeviceMesh mesh =
                    DeviceMesh.of(new RecordingGroup(world.group(), log), world.backend(), List.of(Map.entry("tp", 2)));
            Mlp mlp = Parallelize.apply(
                    new Mlp(D, FF, Activation.GELU, true), mesh, Map.of("up_proj", COLUMN, "down_proj", ROW));
            mlp.materialize(world.backend(), DType.FLOAT32, 1);
            Tensor x = Tensors.ones(world.backend(), DType.FLOAT32, Shape.of(N, D));
            mlp.apply(x);
            assertThat(log.count(Collective.ALL_GATHER, "up_proj")).isOne(); // one hash a rank
            assertThat(log.elements(Collective.ALL_GATHER)).isEqualTo(2);
            mlp.apply(x);
            assertThat(log.count(Collective.ALL_GATHER)).isOne();
            assertThat(log.count(Collective.ALL_REDUCE)).isEqualTo(2);
        });
    }
}
