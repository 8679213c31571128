package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.ColumnParallelLinear;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelLinearOptions;
import org.tp4j.parallel.RowParallelLinear;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Every option of the layers that are split from the start, against a plain linear layer. */
class LinearOptionsTest {
    private static final int IN = 6;
    private static final int OUT = 5;
    private static final Shape INPUT = Shape.of(3, 2, IN); // [sequence, batch, features]

    static Stream<Arguments> columnOptions() {
        return combinations();
    }

    @ParameterizedTest
    @MethodSource("columnOptions")
    void shouldBeALinearLayerSplitByColumn(int ranks, boolean gatherOutput, ParallelLinearOptions options) {
        Parity.Outcome one = Parity.one(() -> new Linear(IN, OUT, options.bias()), INPUT);
        ThreadRanks.run(ranks, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Linear layer = new ColumnParallelLinear(MeshAxis.only(mesh), IN, OUT, gatherOutput, options);
            Placement[] lies = new Placement[1];
            layer.addOutputHook(y -> {
                lies[0] = ((DTensor) y).layout().placement(0);
                return y;
            });
            Parity.assertSame(
                    Parity.split(layer, world, INPUT, x -> options.sequenceParallel() ? piece(x, mesh) : x), one);
            assertThat(lies[0]).isEqualTo(gatherOutput ? Placement.invariant() : Placement.shard(2));
        });
    }

    /** This rank's part of the sequence as a plain tensor, whose gradient is its part of the gradient. */
    private static Tensor piece(Tensor x, DeviceMesh mesh) {
        return DTensors.distribute(x, mesh, Placement.shard(0)).toLocal(Placement.shard(0));
    }

    static Stream<Arguments> rowOptions() {
        return combinations();
    }

    /** Ranks, the flag of the layer (gather the output, or the input is parallel), options. */
    private static Stream<Arguments> combinations() {
        ParallelLinearOptions plain = new ParallelLinearOptions();
        List<ParallelLinearOptions> all = List.of(
                plain,
                plain.withBias(false),
                plain.withSequenceParallel(true),
                plain.withSequenceParallel(true).withBias(false));
        return Stream.of(1, 2, 3, 4)
                .flatMap(t -> Stream.of(true, false).flatMap(f -> all.stream().map(o -> Arguments.of(t, f, o))));
    }

    @ParameterizedTest
    @MethodSource("rowOptions")
    void shouldBeALinearLayerSplitByRow(int ranks, boolean inputIsParallel, ParallelLinearOptions options) {
        Parity.Outcome one = Parity.one(() -> new Linear(IN, OUT, options.bias()), INPUT);
        ThreadRanks.run(ranks, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Linear layer = new RowParallelLinear(MeshAxis.only(mesh), IN, OUT, inputIsParallel, options);
            Placement[] lies = new Placement[1];
            layer.addOutputHook(y -> {
                lies[0] = ((DTensor) y).layout().placement(0);
                return y;
            });
            Parity.assertSame(Parity.split(layer, world, INPUT, x -> inputIsParallel ? slice(x, mesh) : x), one);
            assertThat(lies[0]).isEqualTo(options.sequenceParallel() ? Placement.shard(0) : Placement.invariant());
        });
    }

    /** This rank's slice of the features as a plain tensor. */
    private static Tensor slice(Tensor x, DeviceMesh mesh) {
        return DTensors.distribute(x, mesh, Placement.shard(-1)).toLocal(Placement.shard(-1));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldLeaveTheRowBiasToTheCallerIfRequested(int ranks) {
        Parity.Outcome one = Parity.one(() -> new Linear(IN, OUT, true), INPUT);
        ThreadRanks.run(ranks, world -> {
            Linear layer = new RowParallelLinear(
                    MeshAxis.only(DeviceMesh.of(world, "tp")),
                    IN,
                    OUT,
                    false,
                    new ParallelLinearOptions().withSkipBiasAdd(true));
            layer.addOutputHook(product -> product.add(layer.bias().tensor()));
            Parity.assertSame(Parity.split(layer, world, INPUT), one);
        });
    }

    @Test
    void shouldUseTheGivenInitializer() {
        ThreadRanks.run(2, world -> {
            MeshAxis axis = MeshAxis.only(DeviceMesh.of(world, "tp"));
            Linear column = new ColumnParallelLinear(
                    axis, IN, OUT, false, new ParallelLinearOptions().withInitializer(Initializer.constant(3)));
            Linear row = new RowParallelLinear(
                    axis, IN, OUT, true, new ParallelLinearOptions().withInitializer(Initializer.normal(100, 1)));
            column.materialize(world.backend(), DType.FLOAT32, 1);
            row.materialize(world.backend(), DType.FLOAT32, 1);
            assertThat(column.weight().tensor().local().toDoubles()).containsOnly(3);
            assertThat(Arrays.stream(row.weight().tensor().local().toDoubles())).allMatch(w -> w > 90 && w < 110);
        });
    }

    @Test
    void shouldShowHowTheyAreSplit() {
        ThreadRanks.run(2, world -> {
            MeshAxis axis = MeshAxis.only(DeviceMesh.of(world, "tp"));
            assertThat(new ColumnParallelLinear(axis, IN, OUT))
                    .hasToString("ColumnParallelLinear(6 -> 5) split by ColwiseParallel along tp\n");
            assertThat(new RowParallelLinear(
                            axis,
                            IN,
                            OUT,
                            true,
                            new ParallelLinearOptions().withBias(false).withSequenceParallel(true)))
                    .hasToString(
                            "RowParallelLinear(6 -> 5, no bias) split by RowwiseParallel(output Shard(0)) along tp\n");
        });
    }

    @Test
    void shouldSayWhatIsWrongWithASliceOfAnotherSize() {
        assertThatThrownBy(() -> ThreadRanks.run(2, LinearOptionsTest::feedTheWholeAsASlice))
                .isInstanceOf(LayoutException.class)
                .hasMessageContaining(
                        "takes this rank's slice of 3 of 6 features on mesh axis 'tp', but the plain input"
                                + " [3, 2, 6] is whole")
                .hasMessageContaining("HINT: split the layer before it as ColwiseParallel, or declare a whole input:"
                        + " withInput(Placement.invariant()), inputIsParallel false of RowParallelLinear");
    }

    private static void feedTheWholeAsASlice(World world) {
        Linear layer = new RowParallelLinear(MeshAxis.only(DeviceMesh.of(world, "tp")), IN, OUT);
        layer.materialize(world.backend(), DType.FLOAT32, 1);
        layer.apply(Tensors.ones(world.backend(), DType.FLOAT32, INPUT));
    }

    @Test
    void shouldNameTheHiddenSizesOfLayersThatDoNotFollow() {
        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    DeviceMesh mesh = DeviceMesh.of(world, "tp");
                    MeshAxis axis = MeshAxis.only(mesh);
                    Linear up = new ColumnParallelLinear(axis, IN, 8);
                    Linear down = new RowParallelLinear(axis, 10, OUT);
                    up.materialize(world.backend(), DType.FLOAT32, 1);
                    down.materialize(world.backend(), DType.FLOAT32, 1);
                    down.apply(up.apply(Tensors.ones(world.backend(), DType.FLOAT32, INPUT)));
                }))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("linear of x [3, 2, 8] and weight [5, 10]");
    }

    @Test
    void shouldNotCountTheBiasOfALayerWithoutOne() {
        assertThat(new Linear(2, 3, false).bias()).isNull();
        assertThat(new Linear(2, 3, false).parameters()).containsOnlyKeys("weight");
        assertThat(Map.copyOf(new Linear(2, 3, true).parameters())).containsOnlyKeys("weight", "bias");
    }
}
