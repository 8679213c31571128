package org.tp4j.tests.planner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.RmsNorm;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.AdamW;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PlanException;
import org.tp4j.parallel.PrepareModuleInput;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.planner.DryRun;
import org.tp4j.planner.PlanTable;
import org.tp4j.planner.PlanTable.Phase;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.meta.MetaBackend;
import org.tp4j.tests.parallel.Recorded;
import org.tp4j.threads.ThreadRanks;

/** The plan table says what a real run does: the same shapes, the same collectives, the same bytes. */
class PlanTableTest {
    private static final ColwiseParallel COLUMN = new ColwiseParallel();
    private static final RowwiseParallel ROW = new RowwiseParallel();
    private static final Map<String, ParallelStyle> MLP_PLAN = Map.of("up_proj", COLUMN, "down_proj", ROW);
    private static final Shape INPUT = Shape.of(6, 8);

    private static Layer mlp() {
        return new Mlp(8, 12, Activation.GELU, true);
    }

    private static Layer blocks() {
        return new Sequential(
                new LayerNorm(8, 1e-5),
                new GatedMlp(8, 12, Activation.SILU, false),
                new LayerNorm(8, 1e-5),
                new GatedMlp(8, 12, Activation.SILU, false));
    }

    private static List<CommunicationLog.Entry> calls(PlanTable table, Phase phase) {
        return table.calls().stream()
                .filter(call -> call.phase() == phase)
                .map(PlanTable.Call::entry)
                .toList();
    }

    @Test
    void shouldPrintWhatEachRankHoldsAndWhatIsCommunicated() {
        PlanTable table = DryRun.on("tp", 5, INPUT).withRank(1).describe(PlanTableTest::mlp, MLP_PLAN);
        assertThat(table).hasToString("""
                        plan on mesh (tp=5), split along 'tp', as rank 1, float32

                        parameter         whole    here    placement        bytes here  on each rank
                        up_proj.weight    [12, 8]  [3, 8]  [tp: Shard(0)]           96       0 to 96
                        up_proj.bias      [12]     [3]     [tp: Shard(0)]           12       0 to 12
                        down_proj.weight  [8, 12]  [8, 3]  [tp: Shard(1)]           96       0 to 96
                        down_proj.bias    [8]      [8]     [tp: Invariant]          32            32

                        module          type     whole    here    layout
                        (model)    in   float32  [6, 8]   [6, 8]  plain
                        up_proj    in   float32  [6, 8]   [6, 8]  [tp: Replicate]
                        up_proj    out  float32  [6, 12]  [6, 3]  [tp: Shard(1)]
                        down_proj  in   float32  [6, 12]  [6, 3]  [tp: Shard(1)]
                        down_proj  out  float32  [6, 8]   [6, 8]  [tp: Invariant]
                        (model)    out  float32  [6, 8]   [6, 8]  [tp: Invariant]

                        module     when      collective  axis  ranks  type     elements  bytes
                        down_proj  forward   allReduce   tp        5  float32        48    192
                        up_proj    backward  allReduce   tp        5  float32        48    192

                        total
                        parameters of the whole model               212
                        bytes of parameters here                    236
                          on the rank with least                     32
                          on the rank with most                     236
                        bytes of gradients here                     236
                        bytes of AdamW's state here                 472
                        bytes of activations here, before backward  720
                        bytes communicated, forward                 192
                        bytes communicated, backward                192
                        bytes communicated, sums                      0
                        """);
    }

    static Stream<Arguments> plans() {
        List<Arguments> examples = List.of(
                Arguments.of((Supplier<Layer>) PlanTableTest::mlp, MLP_PLAN),
                Arguments.of((Supplier<Layer>) PlanTableTest::mlp, Map.of()),
                Arguments.of(
                        (Supplier<Layer>) PlanTableTest::mlp,
                        Map.of(
                                "up_proj",
                                ROW.withInput(Placement.invariant()),
                                "down_proj",
                                COLUMN.withOutput(Placement.invariant()))),
                Arguments.of(
                        (Supplier<Layer>) PlanTableTest::mlp,
                        Map.of("up_proj", COLUMN.withLocalOutput(), "down_proj", ROW.withLocalOutput())),
                Arguments.of(
                        (Supplier<Layer>) PlanTableTest::blocks,
                        Map.of(
                                "",
                                new PrepareModuleInput(Placement.invariant(), Placement.shard(0)),
                                "0",
                                new SequenceParallel(0),
                                "*.gate_proj",
                                COLUMN,
                                "*.up_proj",
                                COLUMN,
                                "*.down_proj",
                                ROW.withOutput(Placement.shard(0)),
                                "2",
                                new SequenceParallel(0))));
        return Stream.of(2, 3, 4, 5).flatMap(t -> examples.stream().map(e -> Arguments.of(t, e.get()[0], e.get()[1])));
    }

    @ParameterizedTest
    @MethodSource("plans")
    void shouldSayWhatARealRunDoes(int ranks, Supplier<Layer> model, Map<String, ParallelStyle> plan) {
        ThreadRanks.run(ranks, world -> {
            PlanTable table =
                    DryRun.on("tp", ranks, INPUT).withRank(world.rank()).describe(model, plan);
            Recorded real = Recorded.run(
                    world,
                    model.get(),
                    plan,
                    mesh -> Tensors.ones(world.backend(), DType.FLOAT32, INPUT).requiresGrad(true),
                    List.of(Map.entry("tp", ranks)));
            assertThat(calls(table, Phase.FORWARD)).isEqualTo(real.forward());
            assertThat(calls(table, Phase.BACKWARD)).isEqualTo(real.backward());
            assertThat(calls(table, Phase.SUMS)).isEqualTo(real.sums());

            Layer placed = Parallelize.apply(model.get(), DeviceMesh.of(world, "tp"), plan);
            placed.materialize(world.backend(), DType.FLOAT32, 1);
            assertThat(table.parameters()).hasSize(placed.parameters().size());
            table.parameters().forEach(row -> {
                Tensor tensor = Objects.requireNonNull(placed.state().get(row.name()));
                assertThat(row.local()).as(row.name()).isEqualTo(tensor.local().shape());
                assertThat(row.layout()).hasToString(((DTensor) tensor).layout().toString());
            });
        });
    }

    @Test
    void shouldFindTheRanksWithLeastAndMost() {
        List<Long> here = new ArrayList<>();
        for (int rank = 0; rank < 5; rank++) {
            here.add(DryRun.on("tp", 5, INPUT)
                    .withRank(rank)
                    .describe(PlanTableTest::mlp, MLP_PLAN)
                    .totals()
                    .parameterBytes());
        }
        PlanTable.Totals totals =
                DryRun.on("tp", 5, INPUT).describe(PlanTableTest::mlp, MLP_PLAN).totals();
        assertThat(here.stream().mapToLong(Long::longValue).min()).hasValue(totals.leastParameterBytes());
        assertThat(here.stream().mapToLong(Long::longValue).max()).hasValue(totals.mostParameterBytes());
        assertThat(totals.leastParameterBytes()).isEqualTo(32);
    }

    @Test
    void shouldCoverDataParallelism() {
        DryRun run = DryRun.on("tp", 2, INPUT)
                .withAxes(Map.entry("dp", 3), Map.entry("tp", 2))
                .withInputPlacements(Placement.shard(0), Placement.invariant());
        PlanTable table = run.describe(PlanTableTest::mlp, MLP_PLAN);
        ThreadRanks.run(6, world -> {
            Recorded real = Recorded.run(
                    world,
                    mlp(),
                    MLP_PLAN,
                    mesh -> DTensors.fromLocal(
                            Tensors.ones(world.backend(), DType.FLOAT32, Shape.of(2, 8))
                                    .requiresGrad(true),
                            mesh,
                            Placement.shard(0),
                            Placement.invariant()),
                    List.of(Map.entry("dp", 3), Map.entry("tp", 2)));
            List<CommunicationLog.Entry> forward = real.forward().stream()
                    .filter(e -> e.dtype() == DType.FLOAT32)
                    .toList();
            assertThat(calls(table, Phase.FORWARD)).isEqualTo(forward);
            assertThat(calls(table, Phase.BACKWARD)).isEqualTo(real.backward());
            assertThat(calls(table, Phase.SUMS)).isEqualTo(real.sums());
        });
        assertThat(calls(table, Phase.SUMS)).hasSize(1);
        assertThat(calls(table, Phase.SUMS).get(0).group()).isEqualTo("dp");
        assertThat(calls(table, Phase.SUMS).get(0).elements()).isEqualTo(8 * 6 + 6 + 8 * 6 + 8);
    }

    @ParameterizedTest
    @EnumSource(
            value = DType.class,
            names = {"FLOAT32", "FLOAT64", "BFLOAT16", "FLOAT16"})
    void shouldCountTheStateThatAdamWKeeps(DType type) {
        PlanTable table = DryRun.on("tp", 1, INPUT).withType(type).describe(PlanTableTest::mlp, Map.of());
        Layer model = mlp();
        model.materialize(CpuBackend.get(), type, 1);
        AdamW optimizer = new AdamW(model, 1e-3);
        long bytes = optimizer.state().values().stream()
                .filter(t -> t.dtype().isFloating() && t.shape().dims() > 0) // without counts of steps and options
                .mapToLong(t -> t.local().elements() * t.dtype().bytes())
                .sum();
        assertThat(table.totals().adamWBytes()).isEqualTo(bytes);
    }

    /** A model of the size of Llama 2 70B, attention left out and the feed-forward blocks made larger in its place. */
    private static Layer large() {
        Layer[] layers = new Layer[80];
        for (int i = 0; i < layers.length; i++) {
            layers[i] = new Sequential(new RmsNorm(8192, 1e-5), new GatedMlp(8192, 35_000, Activation.SILU, false));
        }
        return new Sequential(
                new Embedding(32_000, 8192),
                new Sequential(layers),
                new RmsNorm(8192, 1e-5),
                new Linear(8192, 32_000, false));
    }

    @Test
    @Timeout(60)
    void shouldPlanSeventyBillionParametersWithoutMemory() {
        Map<String, ParallelStyle> plan = Map.of(
                "0",
                ROW.withOutput(Placement.shard(0)),
                "1.*.0",
                new SequenceParallel(0),
                "1.*.1.gate_proj",
                COLUMN,
                "1.*.1.up_proj",
                COLUMN,
                "1.*.1.down_proj",
                ROW.withOutput(Placement.shard(0)),
                "2",
                new SequenceParallel(0),
                "3",
                COLUMN.withOutput(Placement.invariant()));
        Tensor labels = Tensors.zeros(MetaBackend.get(), DType.INT64, Shape.of(4096));
        PlanTable table = DryRun.on("tp", 8, Shape.of(4096))
                .withIds()
                .withType(DType.BFLOAT16)
                .withLoss(logits -> logits.crossEntropy(labels))
                .describe(PlanTableTest::large, plan);
        long norms = 81 * 8192L;
        assertThat(table.totals().parameters()).isEqualTo(80 * 3 * 8192L * 35_000 + 2 * 32_000L * 8192 + norms);
        assertThat(table.totals().parameterBytes())
                .isEqualTo((table.totals().parameters() - norms) / 8 * 2 + norms * 2);
        assertThat(table.toString())
                .contains("1.*.1.gate_proj.weight (80 times)")
                .containsPattern("parameters of the whole model +69,337,751,552");
        assertThat(calls(table, Phase.FORWARD)).hasSize(1 + 80 * 2 + 2);
    }

    @Test
    void shouldRefuseAPlanThatDoesNotFit() {
        assertThatThrownBy(() -> DryRun.on("tp", 2, INPUT).describe(PlanTableTest::mlp, Map.of("up", COLUMN)))
                .isInstanceOf(PlanException.class)
                .hasMessageContaining("key 'up' matches no module");
        assertThatThrownBy(() -> DryRun.on("tp", 2, INPUT).withRank(2).describe(PlanTableTest::mlp, MLP_PLAN))
                .hasMessageContaining("rank 2 of 2");
        assertThatThrownBy(() -> DryRun.on("tp", 2, Shape.of(6, 9)).describe(PlanTableTest::mlp, MLP_PLAN))
                .hasMessageContaining("linear of x [6, 9] and weight [12, 8]");
    }
}
