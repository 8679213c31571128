package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.ActivationLayer;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.RmsNorm;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.PrepareModuleInput;
import org.tp4j.parallel.PrepareModuleOutput;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Every style, with inputs on and off the mesh, outputs redistributed and handed out as plain tensors. */
class StylesTest {
    private static final Shape INPUT = Shape.of(3, 5);

    private static Layer mlp() {
        return new Mlp(5, 7, Activation.GELU_TANH, true);
    }

    private static Layer swiglu() {
        return new GatedMlp(5, 7, Activation.SILU, false);
    }

    private static Layer swigluWithBias() {
        return new GatedMlp(5, 6, Activation.SILU, true);
    }

    private static Layer stack() {
        return new Sequential(
                new LayerNorm(5, 1e-5), mlp(), new RmsNorm(5, 1e-6), swiglu(), new ActivationLayer(Tensor::tanh));
    }

    private static final ColwiseParallel COLUMN = new ColwiseParallel();
    private static final RowwiseParallel ROW = new RowwiseParallel();

    /** A plan that has to give what one rank gives. */
    private record Example(String name, Supplier<Layer> model, Map<String, ParallelStyle> plan) {
        @Override
        public String toString() {
            return name;
        }
    }

    private static final List<Example> EXAMPLES = List.of(
            new Example("nothing", StylesTest::mlp, Map.of()),
            new Example("column, row", StylesTest::mlp, Map.of("up_proj", COLUMN, "down_proj", ROW)),
            new Example(
                    "row, column",
                    StylesTest::mlp,
                    Map.of("up_proj", ROW.withInput(Placement.invariant()), "down_proj", COLUMN)),
            new Example("column alone", StylesTest::mlp, Map.of("up_proj", COLUMN.withOutput(Placement.invariant()))),
            new Example("row alone", StylesTest::mlp, Map.of("down_proj", ROW.withInput(Placement.invariant()))),
            new Example(
                    "column, column",
                    StylesTest::mlp,
                    Map.of("up_proj", COLUMN, "down_proj", COLUMN.withOutput(Placement.invariant()))),
            new Example("swiglu", StylesTest::swiglu, Map.of("gate_proj", COLUMN, "up_proj", COLUMN, "down_proj", ROW)),
            new Example(
                    "swiglu with bias",
                    StylesTest::swigluWithBias,
                    Map.of("gate_proj", COLUMN, "up_proj", COLUMN, "down_proj", ROW)),
            new Example(
                    "units",
                    StylesTest::swigluWithBias,
                    Map.of(
                            "gate_proj",
                            COLUMN.withUnit(2),
                            "up_proj",
                            COLUMN.withUnit(2),
                            "down_proj",
                            ROW.withUnit(2))),
            new Example(
                    "plain between the halves",
                    StylesTest::mlp,
                    Map.of("up_proj", COLUMN.withLocalOutput(), "down_proj", ROW)),
            new Example(
                    "plain out of the halves",
                    StylesTest::mlp,
                    Map.of("up_proj", COLUMN, "down_proj", ROW.withLocalOutput())),
            new Example(
                    "column gathered and plain",
                    StylesTest::mlp,
                    Map.of("up_proj", COLUMN.withOutput(Placement.invariant()).withLocalOutput())),
            new Example(
                    "sequence",
                    StylesTest::stack,
                    Map.of(
                            "0",
                            new SequenceParallel(0),
                            "1.up_proj",
                            COLUMN,
                            "1.down_proj",
                            ROW.withOutput(Placement.shard(0)),
                            "2",
                            new SequenceParallel(-2),
                            "3.gate_proj",
                            COLUMN,
                            "3.up_proj",
                            COLUMN,
                            "3.down_proj",
                            ROW.withOutput(Placement.shard(0)))),
            new Example(
                    "sequence, plain between norm and MLP",
                    StylesTest::stack,
                    Map.of(
                            "0", new SequenceParallel(0, Placement.invariant(), true),
                            "1.up_proj", COLUMN.withInput(Placement.shard(0)),
                            "1.down_proj", ROW.withOutput(Placement.shard(0)).withLocalOutput(),
                            "2", new SequenceParallel(0, Placement.shard(0), false),
                            "3", new PrepareModuleInput(Placement.invariant(), Placement.invariant()))),
            new Example(
                    "prepared input and output",
                    StylesTest::mlp,
                    Map.of(
                            "",
                            new PrepareModuleInput(Placement.invariant(), Placement.shard(0))
                                    .and(new PrepareModuleOutput(Placement.shard(0), Placement.invariant())))),
            new Example(
                    "prepared local input and output",
                    StylesTest::stack,
                    Map.of(
                            "4",
                            new PrepareModuleInput(Placement.invariant(), Placement.shard(0), true)
                                    .and(new PrepareModuleOutput(Placement.shard(0), Placement.invariant(), true)))));

    static Stream<Arguments> examples() {
        return Stream.of(1, 2, 3, 4).flatMap(t -> EXAMPLES.stream().map(e -> Arguments.of(t, e)));
    }

    @ParameterizedTest(name = "{1}, T = {0}")
    @MethodSource("examples")
    void shouldComputeWhatOneRankDoes(int ranks, Example example) {
        Parity.check(ranks, example.model, example.plan, INPUT);
    }

    static Stream<Arguments> inputs() {
        List<String> begunByAStyle = List.of("column, row", "row, column", "swiglu with bias", "sequence");
        return examples().filter(a -> begunByAStyle.contains(((Example) a.get()[1]).name));
    }

    @ParameterizedTest(name = "{1}, T = {0}")
    @MethodSource("inputs")
    void shouldTakeInputsThatAreOnTheMesh(int ranks, Example example) {
        Parity.Outcome one = Parity.one(example.model, INPUT);
        for (Placement given : List.of(Placement.invariant(), Placement.shard(0), Placement.shard(1))) {
            ThreadRanks.run(ranks, world -> {
                DeviceMesh mesh = DeviceMesh.of(world, "tp");
                Layer model = Parallelize.apply(example.model.get(), mesh, example.plan);
                Parity.assertSame(Parity.split(model, world, INPUT, x -> DTensors.distribute(x, mesh, given)), one);
            });
        }
    }

    /** How the outputs of a layer lie, by option. */
    static Stream<Arguments> outputs() {
        return Stream.of(
                Arguments.of(COLUMN, "[tp: Shard(1)]"),
                Arguments.of(COLUMN.withOutput(Placement.invariant()), "[tp: Invariant]"),
                Arguments.of(COLUMN.withOutput(Placement.replicate()), "[tp: Replicate]"),
                Arguments.of(COLUMN.withOutput(Placement.shard(0)), "[tp: Shard(0)]"),
                Arguments.of(COLUMN.withUnit(4), "[tp: Shard(1, unit 4)]"),
                Arguments.of(COLUMN.withLocalOutput(), "plain [3, 4]"),
                Arguments.of(COLUMN.withOutput(Placement.invariant()).withLocalOutput(), "plain [3, 8]"),
                Arguments.of(ROW.withInput(Placement.invariant()), "[tp: Invariant]"),
                Arguments.of(ROW.withInput(Placement.invariant()).withOutput(Placement.replicate()), "[tp: Replicate]"),
                Arguments.of(ROW.withInput(Placement.invariant()).withOutput(Placement.shard(0)), "[tp: Shard(0)]"),
                Arguments.of(ROW.withInput(Placement.invariant()).withLocalOutput(), "plain [3, 8]"),
                Arguments.of(
                        ROW.withInput(Placement.invariant())
                                .withOutput(Placement.shard(0))
                                .withLocalOutput(),
                        "plain [2, 8] or plain [1, 8]"),
                Arguments.of(new SequenceParallel(0), "[tp: Shard(0)]"),
                Arguments.of(new SequenceParallel(0, Placement.invariant(), true), "plain [2, 8] or plain [1, 8]"),
                Arguments.of(new PrepareModuleOutput(Placement.invariant(), Placement.shard(1)), "[tp: Shard(1)]"),
                Arguments.of(new PrepareModuleInput(Placement.invariant(), Placement.shard(0)), "[tp: Shard(0)]"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("outputs")
    void shouldHandOutResultsAsAsked(ParallelStyle style, String expected) {
        List<String> outputs = ThreadRanks.call(2, world -> {
            Linear layer = Parallelize.apply(new Linear(5, 8, false), DeviceMesh.of(world, "tp"), Map.of("", style));
            layer.materialize(world.backend(), DType.FLOAT32, 1);
            Tensor y = layer.apply(Tensors.ones(world.backend(), DType.FLOAT32, INPUT));
            return y instanceof DTensor d ? d.layout().toString() : "plain " + y.shape();
        });
        boolean alike = outputs.get(0).equals(outputs.get(1));
        assertThat(alike ? outputs.get(0) : String.join(" or ", outputs)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldRefuseAnInputCutInOtherUnitsThanTheWeight(int ranks) {
        BiFunction<Long, Long, Void> run = (up, down) -> {
            ThreadRanks.run(ranks, world -> {
                Layer mlp = Parallelize.apply(
                        new Mlp(4, 12, Activation.GELU, true),
                        DeviceMesh.of(world, "tp"),
                        Map.of("up_proj", COLUMN.withUnit(up), "down_proj", ROW.withUnit(down)));
                Parity.split(mlp, world, Shape.of(2, 4));
            });
            return null;
        };
        if (ranks == 3) {
            run.apply(4L, 1L); // 12 elements on 3 ranks: units of 4 and of 1 give the same cuts
            assertThatThrownBy(() -> run.apply(6L, 1L)).isInstanceOf(LayoutException.class);
        } else {
            assertThatThrownBy(() -> run.apply(4L, 1L))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("RowwiseParallel in module 'down_proj'")
                    .hasMessageContaining("cut as Shard(1, unit 4) on mesh axis 'tp', the weight's as Shard(1)")
                    .hasMessageContaining("HINT: give both layers' styles the same unit");
        }
    }

    @Test
    void shouldNameOptionsThatAreNotTheUsualOnes() {
        assertThat(COLUMN).hasToString("ColwiseParallel");
        assertThat(COLUMN.withInput(Placement.shard(0))
                        .withOutput(Placement.invariant())
                        .withUnit(64))
                .hasToString("ColwiseParallel(input Shard(0), output Invariant, unit 64)");
        assertThat(ROW.withOutput(Placement.shard(1)).withLocalOutput())
                .hasToString("RowwiseParallel(output Shard(1), local output)");
        assertThat(new SequenceParallel()).hasToString("SequenceParallel(dim 1)");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void shouldTrainOnTwoAxes(int tp) {
        // the rows of the batch over dp, the layers over tp: dp sums parameters' gradients, tp splits them
        Parity.Outcome one = Parity.one(StylesTest::mlp, Shape.of(4, 5));
        ThreadRanks.run(2 * tp, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, Map.entry("dp", 2), Map.entry("tp", tp));
            Layer mlp = Parallelize.apply(mlp(), mesh, "tp", Map.of("up_proj", COLUMN, "down_proj", ROW));
            Parity.assertSame(
                    Parity.split(
                            mlp,
                            world,
                            Shape.of(4, 5),
                            x -> DTensors.distribute(x, mesh, Placement.shard(0), Placement.invariant())),
                    one);
        });
    }
}
