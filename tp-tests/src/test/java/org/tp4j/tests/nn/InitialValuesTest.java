package org.tp4j.tests.nn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.comm.World;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Initializer;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Case A22: initial weights depend on the seed and the parameter's name, and on nothing else. */
class InitialValuesTest {
    private static final Map<String, ParallelStyle> PLAN =
            Map.of("column", new ColwiseParallel(), "row", new RowwiseParallel(), "embed", new RowwiseParallel());

    private static final class Model extends Layer {
        Model() {
            child("column", new Linear(4, 6, false));
            child("row", new Linear(6, 4, true));
            child("embed", new Embedding(7, 3));
            child("norm", new LayerNorm(4, 1e-5));
        }

        @Override
        protected Tensor forward(Tensor x) {
            return x;
        }
    }

    /** One rank's parameters: what it holds, and the whole. */
    private record Weights(Map<String, double[]> mine, Map<String, double[]> whole, Map<String, Boolean> sharded) {}

    private static Weights weights(DeviceMesh mesh, World world, long seed) {
        Model model = Parallelize.apply(new Model(), mesh, "tp", PLAN);
        model.materialize(world.backend(), DType.FLOAT32, seed);
        Weights weights = new Weights(new LinkedHashMap<>(), new LinkedHashMap<>(), new LinkedHashMap<>());
        model.state().forEach((name, tensor) -> {
            DTensor d = (DTensor) tensor;
            weights.mine.put(name, d.local().toDoubles());
            weights.whole.put(name, d.fullTensor().toDoubles());
            weights.sharded.put(name, d.layout().placement(d.layout().mesh().axisIndex("tp")) instanceof Shard);
        });
        return weights;
    }

    private static List<Weights> weights(int ranks, long seed) {
        return ThreadRanks.call(ranks, world -> weights(DeviceMesh.of(world, "tp"), world, seed));
    }

    private static Map<String, double[]> onOneRank(long seed) {
        Model model = new Model();
        model.materialize(CpuBackend.get(), DType.FLOAT32, seed);
        Map<String, double[]> values = new LinkedHashMap<>();
        model.state().forEach((name, tensor) -> values.put(name, tensor.toDoubles()));
        return values;
    }

    private static void assertSameBits(Map<String, double[]> actual, Map<String, double[]> expected) {
        assertThat(actual.keySet()).isEqualTo(expected.keySet());
        expected.forEach((name, values) -> assertThat(actual.get(name)).as(name).containsExactly(values));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldGiveTheSlicesOfWhatOneRankDraws(int ranks) {
        Map<String, double[]> one = onOneRank(1234);
        weights(ranks, 1234).forEach(rank -> assertSameBits(rank.whole, one));
        weights(ranks, 1234).forEach(rank -> assertSameBits(rank.whole, one)); // and again
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldNotRepeatAShardOnAnotherRank(int ranks) {
        List<Weights> all = weights(ranks, 1234);
        all.get(0).sharded.forEach((name, sharded) -> {
            for (int r = 0; r < ranks; r++) {
                for (int other = 0; other < r; other++) {
                    double[] a = all.get(r).mine.get(name);
                    double[] b = all.get(other).mine.get(name);
                    if (sharded) {
                        assertThat(a.length == 0 || !java.util.Arrays.equals(a, b))
                                .as(name)
                                .isTrue();
                    } else {
                        assertThat(a).as(name).containsExactly(b);
                    }
                }
            }
        });
    }

    @Test
    void shouldGiveDataParallelReplicasTheSameWeights() {
        List<Weights> all = ThreadRanks.call(
                4, world -> weights(DeviceMesh.of(world, Map.entry("dp", 2), Map.entry("tp", 2)), world, 1234));
        all.forEach(rank -> assertSameBits(rank.whole, onOneRank(1234)));
        assertSameBits(all.get(0).mine, all.get(2).mine);
        assertSameBits(all.get(1).mine, all.get(3).mine);
    }

    @Test
    void shouldGiveOtherWeightsForAnotherSeedAndAnotherName() {
        Map<String, double[]> one = onOneRank(1234);
        Map<String, double[]> other = onOneRank(1235);
        for (String name : List.of("column.weight", "row.weight", "row.bias", "embed.weight")) {
            assertThat(one.get(name)).as(name).isNotEqualTo(other.get(name));
        }
        assertThat(one.get("norm.weight")).containsOnly(1);
        assertThat(one.get("norm.bias")).containsOnly(0);
        assertThat(one.get("column.weight")).isNotEqualTo(one.get("row.weight"));
    }

    @Test
    void shouldKeepTheValuesOfAModelThatIsSplitLater() {
        Map<String, double[]> one = onOneRank(1234);
        ThreadRanks.run(3, world -> {
            Model model = new Model();
            model.materialize(world.backend(), DType.FLOAT32, 1234);
            Parallelize.apply(model, DeviceMesh.of(world, "tp"), PLAN);
            Map<String, double[]> whole = new LinkedHashMap<>();
            model.state()
                    .forEach((name, tensor) ->
                            whole.put(name, ((DTensor) tensor).fullTensor().toDoubles()));
            assertSameBits(whole, one);
        });
    }

    static Stream<Arguments> initializers() {
        double in = 300;
        double out = 100;
        double xavier = Math.sqrt(6 / (in + out));
        double kaiming = Math.sqrt(6 / in);
        return Stream.of(
                Arguments.of("uniform", Initializer.uniform(-2, 4), 1, 6 / Math.sqrt(12), -2, 4),
                Arguments.of("normal", Initializer.normal(5, 0.5), 5, 0.5, 0, 10),
                Arguments.of("xavier uniform", Initializer.xavierUniform(1), 0, xavier / Math.sqrt(3), -xavier, xavier),
                Arguments.of("xavier normal", Initializer.xavierNormal(2), 0, 2 * Math.sqrt(2 / (in + out)), -2, 2),
                Arguments.of(
                        "kaiming uniform",
                        Initializer.kaimingUniform(Math.sqrt(2)),
                        0,
                        kaiming / Math.sqrt(3),
                        -kaiming,
                        kaiming),
                Arguments.of("kaiming normal", Initializer.kaimingNormal(Math.sqrt(2)), 0, Math.sqrt(2 / in), -2, 2));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("initializers")
    void shouldDrawFromTheDistributionNamed(
            String name, Initializer initializer, double mean, double deviation, double low, double high) {
        Linear layer = new Linear(300, 100, false, initializer);
        layer.materialize(CpuBackend.get(), DType.FLOAT64, 99);
        double[] drawn = layer.weight().tensor().toDoubles();
        double m = IntStream.range(0, drawn.length)
                .mapToDouble(i -> drawn[i])
                .average()
                .orElseThrow();
        double v = IntStream.range(0, drawn.length)
                .mapToDouble(i -> (drawn[i] - m) * (drawn[i] - m))
                .average()
                .orElseThrow();
        // 30,000 draws: five standard errors of a mean, and 3 % of a deviation
        assertThat(m).as(name).isCloseTo(mean, org.assertj.core.data.Offset.offset(5 * deviation / Math.sqrt(30_000)));
        assertThat(Math.sqrt(v)).as(name).isCloseTo(deviation, org.assertj.core.data.Offset.offset(0.03 * deviation));
        List<Double> outside = new ArrayList<>();
        for (double x : drawn) {
            if (x < low || x > high) {
                outside.add(x);
            }
        }
        assertThat(outside).isEmpty();
    }

    @Test
    void shouldFillConstants() {
        Linear layer = new Linear(2, 3, false, Initializer.constant(2.5));
        layer.materialize(CpuBackend.get(), DType.BFLOAT16, 1);
        assertThat(layer.weight().tensor().toDoubles()).containsOnly(2.5);
    }
}
