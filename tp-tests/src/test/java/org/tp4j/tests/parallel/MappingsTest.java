package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.comm.World;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.parallel.Mappings;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/**
 * Megatron's mappings on tensors whose value is the rank, with sums computed by hand: rank r of T holds r + 1 everywhere, the
 * gradient that arrives is 10 (r + 1) everywhere.
 */
class MappingsTest {
    private static final int ROWS = 4; // what "last" and "sequence" cut, divisible by 1, 2 and 4
    private static final int COLUMNS = 8;

    /** This rank's tensor in a placement, and the results of a mapping and its backward. */
    private record Mapped(List<Double> forward, List<Double> backward, Shape shape) {}

    private static Mapped map(World world, Placement from, Function<DTensor, DTensor> mapping) {
        DeviceMesh mesh = DeviceMesh.of(world, "tp");
        Layout layout = Layout.of(mesh, 2, from);
        Shape global = Shape.of(ROWS, COLUMNS);
        Tensor mine = Tensors.full(world.backend(), DType.FLOAT64, layout.localShape(global), world.rank() + 1)
                .requiresGrad(true);
        DTensor out = mapping.apply(MeshBorder.trusted(mine, global, layout));
        Layout dual = out.layout().dual();
        Tensor gradient =
                Tensors.full(world.backend(), DType.FLOAT64, dual.localShape(global), 10 * (world.rank() + 1));
        out.backward(MeshBorder.trusted(gradient, global, dual));
        return new Mapped(distinct(out), distinct(mine.grad()), out.local().shape());
    }

    private static List<Double> distinct(Tensor tensor) {
        return Arrays.stream(tensor.local().toDoubles()).distinct().boxed().toList();
    }

    private static double sum(int ranks) {
        return ranks * (ranks + 1) / 2.0;
    }

    private static List<Double> all(int ranks, double scale) {
        return java.util.stream.IntStream.rangeClosed(1, ranks)
                .mapToObj(r -> scale * r)
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldCopyToTheRegionAndSumBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped f = map(world, Placement.invariant(), x -> Mappings.copyToTensorParallelRegion(x, "tp"));
            assertThat(f.forward).containsExactly(world.rank() + 1.0);
            assertThat(f.backward).containsExactly(10 * sum(ranks));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldSumFromTheRegionAndCopyBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped g = map(world, Placement.partial(), x -> Mappings.reduceFromTensorParallelRegion(x, "tp"));
            assertThat(g.forward).containsExactly(sum(ranks));
            assertThat(g.backward).containsExactly(10 * (world.rank() + 1.0));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldScatterTheLastDimensionAndGatherBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped m = map(world, Placement.invariant(), x -> Mappings.scatterToTensorParallelRegion(x, "tp"));
            assertThat(m.shape).isEqualTo(Shape.of(ROWS, COLUMNS / ranks));
            assertThat(m.forward).containsExactly(world.rank() + 1.0);
            assertThat(m.backward).isEqualTo(all(ranks, 10));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldGatherTheLastDimensionAndKeepTheSliceBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped m = map(world, Placement.shard(1), x -> Mappings.gatherFromTensorParallelRegion(x, "tp"));
            assertThat(m.shape).isEqualTo(Shape.of(ROWS, COLUMNS));
            assertThat(m.forward).isEqualTo(all(ranks, 1));
            assertThat(m.backward).containsExactly(10 * (world.rank() + 1.0));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldScatterTheSequenceAndGatherBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped m = map(world, Placement.invariant(), x -> Mappings.scatterToSequenceParallelRegion(x, "tp"));
            assertThat(m.shape).isEqualTo(Shape.of(ROWS / ranks, COLUMNS));
            assertThat(m.backward).isEqualTo(all(ranks, 10));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldGatherTheSequenceAndReduceScatterOrSliceBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped follows =
                    map(world, Placement.shard(0), x -> Mappings.gatherFromSequenceParallelRegion(x, "tp", true));
            assertThat(follows.forward).isEqualTo(all(ranks, 1));
            assertThat(follows.backward).containsExactly(10 * sum(ranks));
            Mapped ends =
                    map(world, Placement.shard(0), x -> Mappings.gatherFromSequenceParallelRegion(x, "tp", false));
            assertThat(ends.forward).isEqualTo(all(ranks, 1));
            assertThat(ends.backward).containsExactly(10 * (world.rank() + 1.0));
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldReduceScatterToTheSequenceAndGatherBack(int ranks) {
        ThreadRanks.run(ranks, world -> {
            Mapped m = map(world, Placement.partial(), x -> Mappings.reduceScatterToSequenceParallelRegion(x, "tp"));
            assertThat(m.shape).isEqualTo(Shape.of(ROWS / ranks, COLUMNS));
            assertThat(m.forward).containsExactly(sum(ranks));
            assertThat(m.backward).isEqualTo(all(ranks, 10));
        });
    }

    @Test
    void shouldRefuseATensorInAnotherLayout() {
        ThreadRanks.run(
                2,
                world -> assertThatThrownBy(
                                () -> map(world, Placement.shard(0), x -> Mappings.copyToTensorParallelRegion(x, "tp")))
                        .isInstanceOf(LayoutException.class)
                        .hasMessageContaining(
                                "copyToTensorParallelRegion takes a tensor that is Invariant on mesh axis 'tp'")
                        .hasMessageContaining("laid out [tp: Shard(0)]")
                        .hasMessageContaining("HINT: redistribute(\"tp\", ...)"));
    }
}
