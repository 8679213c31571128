package org.tp4j.tests.parallel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.World;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Module;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.MeshAxis;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** The mistakes that tensor parallelism is known for, made on purpose: each is told, or seen by a comparison with one rank. */
class PlantedErrorsTest {
    private static final Shape INPUT = Shape.of(3, 4);

    /** A style that cuts the weight's rows and forgets f: what a hand-written column-parallel layer without it does. */
    private record ColumnWithoutF() implements ParallelStyle {
        @Override
        public List<String> validate(String path, Module module, int ranks) {
            return List.of();
        }

        @Override
        public Map<String, Placement> placements(Module module) {
            return new ColwiseParallel().placements(module);
        }

        @Override
        public void install(Module module, MeshAxis axis) {}
    }

    private static void apply(World world, Layer model, boolean inputNeedsGradient) {
        model.materialize(world.backend(), DType.FLOAT64, 1);
        Tensor x = Tensors.normal(world.backend(), DType.FLOAT64, INPUT, 0, 1, 5, 6)
                .requiresGrad(inputNeedsGradient);
        model.apply(x);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldRefuseAColumnProductWithoutF(int ranks) {
        assertThatThrownBy(() -> ThreadRanks.run(ranks, world -> {
                    Mlp mlp = Parallelize.apply(
                            new Mlp(4, 8, Activation.GELU, true),
                            DeviceMesh.of(world, "tp"),
                            Map.of("up_proj", new ColumnWithoutF(), "down_proj", new RowwiseParallel()));
                    apply(world, mlp, true);
                }))
                .isInstanceOf(LayoutException.class)
                .hasMessageContaining("linear in module 'up_proj'")
                .hasMessageContaining("Invariant does not mix with Shard: its gradient would be incomplete")
                .hasMessageContaining("on mesh axis 'tp'")
                .hasMessageContaining("HINT: redistribute operand 0 to Replicate");
    }

    @Test
    void shouldNotAskForFWhereTheInputNeedsNoGradient() {
        ThreadRanks.run(2, world -> {
            Mlp mlp = Parallelize.apply(
                    new Mlp(4, 8, Activation.GELU, true),
                    DeviceMesh.of(world, "tp"),
                    Map.of("up_proj", new ColumnWithoutF(), "down_proj", new RowwiseParallel()));
            apply(world, mlp, false);
        });
    }

    @Test
    void shouldRefuseAGateAndAnUpThatAreCutDifferently() {
        // dFf = 6 on two ranks: units of 1 give each rank 3 channels, units of 2 give 4 and 2
        List<double[]> gates = channels(new ColwiseParallel());
        List<double[]> ups = channels(new ColwiseParallel().withUnit(2));
        assertThat(gates.get(0)).containsExactly(0, 1, 2);
        assertThat(gates.get(1)).containsExactly(3, 4, 5);
        assertThat(ups.get(0)).containsExactly(0, 1, 2, 3);
        assertThat(ups.get(1)).containsExactly(4, 5);

        assertThatThrownBy(() -> ThreadRanks.run(2, world -> {
                    GatedMlp mlp = Parallelize.apply(
                            new GatedMlp(4, 6, Activation.SILU, false),
                            DeviceMesh.of(world, "tp"),
                            Map.of(
                                    "gate_proj", new ColwiseParallel(),
                                    "up_proj", new ColwiseParallel().withUnit(2),
                                    "down_proj", new RowwiseParallel()));
                    apply(world, mlp, true);
                }))
                .isInstanceOf(LayoutException.class)
                .hasMessageContaining("gated_silu")
                .hasMessageContaining("operands are cut differently")
                .hasMessageContaining("HINT: redistribute operand");
    }

    /** Which channels each of two ranks computes: a layer whose channel i gives i. */
    private static List<double[]> channels(ParallelStyle style) {
        return ThreadRanks.call(2, world -> {
            Linear layer = Parallelize.apply(new Linear(1, 6, false), DeviceMesh.of(world, "tp"), Map.of("", style));
            layer.materialize(world.backend(), DType.FLOAT64, 1);
            layer.loadState(Map.of("weight", Tensors.of(world.backend(), new double[] {0, 1, 2, 3, 4, 5}, 6, 1)));
            return layer.apply(Tensors.ones(world.backend(), DType.FLOAT64, Shape.of(1, 1)))
                    .local()
                    .toDoubles();
        });
    }

    /** A row-parallel product written on raw locals, with the bias before or after the reduction. */
    private static Tensor rowOnRawLocals(DTensor x, DTensor weight, Tensor bias, boolean biasFirst) {
        Layout out = Layout.of(x.layout().mesh(), 2, Placement.partial());
        DTensor product = DTensors.localMap(
                locals -> {
                    Tensor local = locals.get(0).matmul(locals.get(1), false, true);
                    return biasFirst ? local.add(bias) : local;
                },
                List.of(x.layout(), weight.layout()),
                out,
                Shape.of(x.size(0), weight.size(0)),
                x,
                weight);
        Tensor whole = product.redistribute(Placement.invariant());
        return biasFirst ? whole : whole.add(bias);
    }

    private static double rowDifference(int ranks, boolean biasFirst) {
        List<Double> differences = ThreadRanks.call(ranks, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Tensor x = Tensors.normal(world.backend(), DType.FLOAT64, INPUT, 0, 1, 1, 1);
            Tensor w = Tensors.normal(world.backend(), DType.FLOAT64, Shape.of(5, 4), 0, 1, 1, 2);
            Tensor b = Tensors.normal(world.backend(), DType.FLOAT64, Shape.of(5), 0, 1, 1, 3);
            double[] expected = x.linear(w, b).toDoubles();
            double[] actual = rowOnRawLocals(
                            DTensors.distribute(x, mesh, Placement.shard(1)),
                            DTensors.distribute(w, mesh, Placement.shard(1)),
                            b,
                            biasFirst)
                    .local()
                    .toDoubles();
            double largest = 0;
            for (int i = 0; i < actual.length; i++) {
                largest = Math.max(largest, Math.abs(actual[i] - expected[i]));
            }
            return largest;
        });
        return differences.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldFailParityWhenTheRowBiasIsAddedToRawLocals(int ranks) {
        double rounding = 1e-12; // sums of four terms of size 1 in float64
        assertThat(rowDifference(ranks, false)).isLessThan(rounding);
        assertThat(rowDifference(ranks, true)).isGreaterThan(0.1); // (T - 1) biases too many
    }

    @Test
    void shouldAddAnInvariantBiasToAPendingSumOnce() {
        // on the mesh the same line is no mistake: Invariant goes into a pending sum on the first rank only
        ThreadRanks.run(3, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Tensor x = Tensors.normal(world.backend(), DType.FLOAT64, INPUT, 0, 1, 1, 1);
            Tensor w = Tensors.normal(world.backend(), DType.FLOAT64, Shape.of(5, 4), 0, 1, 1, 2);
            Tensor b = Tensors.normal(world.backend(), DType.FLOAT64, Shape.of(5), 0, 1, 1, 3);
            Tensor pending = DTensors.distribute(x, mesh, Placement.shard(1))
                    .linear(DTensors.distribute(w, mesh, Placement.shard(1)), null);
            double[] expected = x.linear(w, b).toDoubles();
            double[] actual = ((DTensor) pending.add(b))
                    .redistribute(Placement.invariant())
                    .local()
                    .toDoubles();
            for (int i = 0; i < actual.length; i++) {
                assertThat(actual[i]).isCloseTo(expected[i], org.assertj.core.data.Offset.offset(1e-12));
            }
            assertThatThrownBy(pending::relu)
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("not linear in operand 0, which is a pending sum");
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldTellRanksThatAreFedDifferentData(int ranks) {
        assertThatThrownBy(() -> ThreadRanks.run(ranks, world -> {
                    Mlp mlp = Parallelize.apply(
                            new Mlp(4, 8, Activation.GELU, true),
                            DeviceMesh.of(world, "tp"),
                            Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
                    mlp.materialize(world.backend(), DType.FLOAT32, 1);
                    long seed = world.rank() == world.size() - 1 ? 8 : 7; // the last rank reads other rows
                    mlp.apply(Tensors.normal(world.backend(), DType.FLOAT32, INPUT, 0, 1, seed, 1));
                }))
                .isInstanceOf(LayoutException.class)
                .hasMessageContaining("in module 'up_proj'")
                .hasMessageContaining("ranks 0 and " + (ranks - 1) + " of mesh axis 'tp' hold different data")
                .hasMessageContaining("HINT: feed every rank of 'tp' the same data");
    }

    @Test
    void shouldTakeDifferentDataThatIsDeclared() {
        ThreadRanks.run(2, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, Map.entry("dp", 2), Map.entry("tp", 1));
            Mlp mlp = Parallelize.apply(
                    new Mlp(4, 8, Activation.GELU, true),
                    mesh,
                    "tp",
                    Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
            mlp.materialize(world.backend(), DType.FLOAT32, 1);
            Tensor mine = Tensors.normal(world.backend(), DType.FLOAT32, INPUT, 0, 1, world.rank(), 1);
            assertThat(mlp.apply(DTensors.fromLocal(mine, mesh, Placement.shard(0), Placement.invariant()))
                            .shape())
                    .isEqualTo(Shape.of(6, 4));
            assertThatThrownBy(() -> mlp.apply(mine)).hasMessageContaining("ranks 0 and 1 of mesh axis 'dp'");
        });
    }

    @Test
    void shouldSeeThatAForgottenAllReduceGivesAnotherInputGradient() {
        // what the library refuses, done below it: the gradient each rank computes alone is not the whole
        ThreadRanks.run(2, world -> {
            Tensor w = Tensors.normal(world.backend(), DType.FLOAT64, Shape.of(8, 4), 0, 1, 1, 2);
            Tensor g = Tensors.normal(world.backend(), DType.FLOAT64, Shape.of(3, 8), 0, 1, 1, 4);
            double[] whole = g.matmul(w).toDoubles();
            int half = 4 * world.rank();
            Tensor mine = g.slice(1, half, half + 4).matmul(w.slice(0, half, half + 4));
            assertThat(Arrays.equals(mine.local().toDoubles(), whole)).isFalse();
            NdArray sum = mine.local();
            world.group().allReduce(sum, sum, ReduceOp.SUM).await();
            for (int i = 0; i < whole.length; i++) {
                assertThat(mine.local().toDoubles()[i]).isCloseTo(whole[i], org.assertj.core.data.Offset.offset(1e-12));
            }
        });
    }
}
