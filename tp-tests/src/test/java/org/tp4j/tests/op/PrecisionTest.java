package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** What is one operation to its user rounds once: on one rank, and in sums over ranks. */
class PrecisionTest {
    private static final Placement INVARIANT = Placement.invariant();
    private static final int BATCHES = 3;
    private static final double FLOAT32_UNIT = Math.scalb(1.0, -23);

    private static Tensor plain(Backend backend, DType dtype, Shape shape, double... values) {
        DType wide = dtype.isHalf() ? DType.FLOAT64 : dtype;
        return Whole.tensor(backend, wide, values, shape).cast(dtype);
    }

    private static double[] full(int n, double value) {
        double[] values = new double[n];
        Arrays.fill(values, value);
        return values;
    }

    private static double whole(Tensor tensor) {
        return (tensor instanceof DTensor d ? d.fullTensor() : tensor).item();
    }

    private static <T> T last(List<T> all) {
        return all.get(all.size() - 1);
    }

    private static DTensor sharded(Rank rank, DType dtype, double... values) {
        Tensor whole = plain(rank.backend(), dtype, Shape.of(values.length), values);
        return DTensors.distribute(whole, rank.mesh(), Placement.shard(0));
    }

    @Test
    void shouldAverageWhatItsTypeCannotSum() {
        Backend backend = CpuBackend.get();
        Tensor ones = plain(backend, DType.FLOAT16, Shape.of(70_000), full(70_000, 1));
        assertThat(ones.mean().item()).isOne();
        Tensor many = plain(backend, DType.FLOAT16, Shape.of(4096, 64), full(4096 * 64, 1));
        assertThat(many.square().mean().item()).isOne();
        Tensor swing = plain(backend, DType.FLOAT16, Shape.of(4), 200, -200, 200, -200);
        assertThat(swing.variance(false, false).item()).isEqualTo(40_000);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldAverageOverRanksWhatItsTypeCannotSum(int ranks) {
        Ranks.run(ranks, rank -> {
            DTensor ones = sharded(rank, DType.FLOAT16, full(70_000, 1));
            Tensor mean = ones.mean();
            assertThat(((DTensor) mean).local().dtype()).isEqualTo(DType.FLOAT32);
            assertThat(mean.dtype()).isEqualTo(DType.FLOAT16);
            assertThat(whole(mean)).isOne();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldGiveTheBitsOfOneRankForSumsOf16BitNumbers(int ranks) {
        Random random = new Random(1);
        double[] values =
                random.doubles(1001, -4, 4).map(v -> Math.rint(v * 32) / 32).toArray();
        for (DType dtype : List.of(DType.BFLOAT16, DType.FLOAT16)) {
            double one = plain(CpuBackend.get(), dtype, Shape.of(values.length), values)
                    .sum()
                    .item();
            Ranks.run(ranks, rank -> {
                Tensor sum = sharded(rank, dtype, values).sum();
                assertThat(whole(sum)).isEqualTo(one);
                // what is linear passes the terms on, and rounds when the sum is complete
                assertThat(whole(sum.mul(0.5).add(sum.mul(1.5)).neg().reshape(1)))
                        .isEqualTo(-2 * one);
                assertThat(whole(sum.cast(DType.FLOAT32)))
                        .isEqualTo(Arrays.stream(values).sum());
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldCastAPendingSumOnceItIsComplete(int ranks) {
        Ranks.run(ranks, rank -> {
            DTensor x = sharded(rank, DType.FLOAT32, 60_000, 60_000, -60_000, -59_999);
            Tensor narrow = x.sum().cast(DType.FLOAT16);
            assertThat(narrow.dtype()).isEqualTo(DType.FLOAT16);
            assertThat(whole(narrow)).isOne();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4})
    void shouldMultiplyRowParallelWhatPartsOfASumCannotHold(int ranks) {
        Ranks.run(ranks, rank -> {
            for (boolean sequence : List.of(false, true)) {
                Linear layer = new Linear(4, 1, false);
                RowwiseParallel style =
                        new RowwiseParallel().withOutput(sequence ? Placement.shard(0) : Placement.invariant());
                Parallelize.apply(layer, rank.mesh(), Map.of("", style));
                layer.materialize(rank.backend(), DType.FLOAT16, 0);
                layer.loadState(Map.of("weight", plain(rank.backend(), DType.FLOAT16, Shape.of(1, 4), full(4, 200))));
                Tensor x = plain(rank.backend(), DType.FLOAT16, Shape.of(1, 4), 300, 300, -300, -299);
                Tensor y = layer.apply(DTensors.distribute(x, rank.mesh(), INVARIANT));
                assertThat(whole(y)).isEqualTo(200);
            }
        });
    }

    @Test
    void shouldReduceAProductInTheTypeThePlanNames() {
        Ranks.run(2, rank -> {
            double[] terms = {1, Math.scalb(1.0, -9), 0, 0}; // the second is lost beside the first in 16 bits
            for (DType type : new DType[] {null, DType.FLOAT32}) {
                Linear layer = new Linear(4, 1, false);
                RowwiseParallel style = new RowwiseParallel().withReduceType(type);
                Parallelize.apply(layer, rank.mesh(), Map.of("", style));
                layer.materialize(rank.backend(), DType.BFLOAT16, 0);
                double[] weights = {1, 1, -1, 1};
                layer.loadState(Map.of("weight", plain(rank.backend(), DType.BFLOAT16, Shape.of(1, 4), weights)));
                terms[2] = 1;
                Tensor x = plain(rank.backend(), DType.BFLOAT16, Shape.of(1, 4), terms);
                Tensor y = layer.apply(DTensors.distribute(x, rank.mesh(), INVARIANT));
                assertThat(whole(y)).isEqualTo(type == null ? 0 : terms[1]);
                assertThat(last(rank.log().entries()).dtype()).isEqualTo(type == null ? DType.BFLOAT16 : DType.FLOAT32);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"BFLOAT16", "FLOAT16"})
    void shouldCollectTheGradientOfA16BitLeafIn32Bits(DType dtype) {
        Backend backend = CpuBackend.get();
        Tensor leaf = plain(backend, dtype, Shape.of(1), 1).requiresGrad(true);
        for (int pass = 0; pass < 3000; pass++) {
            leaf.mul(1).sum().backward();
        }
        assertThat(leaf.grad().dtype()).isEqualTo(DType.FLOAT32);
        assertThat(leaf.grad().item()).isEqualTo(3000);
    }

    /** Gradients of three micro batches in a 16-bit type equal those of the same numbers in 64 bits, rounded to 32. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldSumGradientsOfMicroBatchesWithoutRoundingThemTo16Bits(int ranks) {
        Ranks.run(ranks, rank -> {
            Map<String, double[]> exact = gradients(rank, DType.FLOAT64);
            Map<String, double[]> half = gradients(rank, DType.BFLOAT16);
            assertThat(half.keySet()).isEqualTo(exact.keySet());
            exact.forEach((name, expected) -> {
                double[] got = half.get(name);
                for (int i = 0; i < expected.length; i++) {
                    assertThat(got[i])
                            .as("%s[%d]", name, i)
                            .isCloseTo(expected[i], within(4 * FLOAT32_UNIT * (1 + Math.abs(expected[i]))));
                }
            });
        });
    }

    /**
     * Every number on the way is exact in bfloat16, the sums of products are not. In 64 bits the micro batches are added up
     * here, otherwise by the library.
     */
    private static Map<String, double[]> gradients(Rank rank, DType dtype) {
        Linear layer = new Linear(6, 6, true);
        Embedding table = new Embedding(5, 6);
        Parallelize.apply(layer, rank.mesh(), Map.of("", new SequenceParallel(0)));
        Parallelize.apply(table, rank.mesh(), Map.of());
        layer.materialize(rank.backend(), dtype, 0);
        table.materialize(rank.backend(), dtype, 0);
        Random random = new Random(7);
        layer.loadState(Map.of(
                "weight", plain(rank.backend(), dtype, Shape.of(6, 6), full(36, 0)),
                "bias", plain(rank.backend(), dtype, Shape.of(6), full(6, 0))));
        Map<String, double[]> result = new TreeMap<>();
        for (int batch = 0; batch < BATCHES; batch++) {
            double[] x = random.ints(30, -127, 128).mapToDouble(v -> v).toArray();
            double[] g = random.ints(30, -127, 128).mapToDouble(v -> v / 128.0).toArray();
            Tensor input = DTensors.distribute(
                    plain(rank.backend(), dtype, Shape.of(5, 6), x), rank.mesh(), Placement.shard(0));
            Tensor upstream = DTensors.distribute(
                    plain(rank.backend(), dtype, Shape.of(5, 6), g), rank.mesh(), Placement.shard(0));
            layer.apply(input).mul(upstream).sum().backward();
            Tensor ids = DTensors.distribute(
                    Tensors.of(rank.backend(), new long[] {3, 1, 3, 3, 0}, 5), rank.mesh(), Placement.shard(0));
            table.apply(ids).mul(upstream).sum().backward();
            if (dtype == DType.FLOAT64 || batch == BATCHES - 1) {
                Map<String, Tensor> gradients = new TreeMap<>(Gradients.of(layer));
                Gradients.of(table).forEach((name, gradient) -> gradients.put("table " + name, gradient));
                gradients.forEach((name, gradient) -> result.merge(name, values(gradient), PrecisionTest::sum));
                layer.parameters().values().forEach(p -> p.tensor().clearGrad());
                table.parameters().values().forEach(p -> p.tensor().clearGrad());
            }
        }
        return result;
    }

    private static double[] sum(double[] a, double[] b) {
        double[] sum = a.clone();
        for (int i = 0; i < sum.length; i++) {
            sum[i] += b[i];
        }
        return sum;
    }

    private static double[] values(Tensor tensor) {
        return (tensor instanceof DTensor d ? d.fullTensor() : tensor).toDoubles();
    }

    @Test
    void shouldCollectTheGradientsOfANormIn32Bits() {
        LayerNorm norm = new LayerNorm(2, 1e-5);
        norm.materialize(CpuBackend.get(), DType.BFLOAT16, 0);
        Tensor x =
                plain(norm.parameters().get("bias").tensor().backend(), DType.BFLOAT16, Shape.of(300, 2), full(600, 1));
        norm.apply(x).sum().backward();
        assertThat(norm.parameters().get("bias").tensor().grad().toDoubles()).containsExactly(300, 300);
    }

    @Test
    void shouldRefuseFractionsOfIntegers() {
        Backend backend = CpuBackend.get();
        for (DType dtype : List.of(DType.INT32, DType.INT64)) {
            Tensor three = plain(backend, DType.INT64, Shape.of(1), 3).cast(dtype);
            assertThat(three.mul(2).add(1).clamp(-10, Double.POSITIVE_INFINITY).toLongs())
                    .containsExactly(7);
            for (Runnable fraction : List.<Runnable>of(
                    () -> three.mul(0.5),
                    () -> three.add(0.5),
                    () -> three.div(2),
                    () -> three.clamp(0.5, 2),
                    () -> three.mul(Double.NaN),
                    () -> three.pad(0, 1, 1, 0.5),
                    () -> three.maskedFill(three.eq(three), 0.5))) {
                assertThatThrownBy(fraction::run)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(dtype.toString())
                        .hasMessageContaining("HINT: cast the tensor to a float type first");
            }
            assertThatThrownBy(three::mean)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("HINT: cast it to a float type first");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldNotPassAPendingSumOfIntegersThroughADivision(int ranks) {
        Ranks.run(ranks, rank -> {
            Tensor sum = sharded(rank, DType.INT64, 1, 1, 1, 1).sum();
            assertThatThrownBy(() -> sum.mul(0.5)).hasMessageContaining("HINT: cast");
            Tensor three = DTensors.distribute(
                    plain(rank.backend(), DType.INT64, Shape.scalar(), 3), rank.mesh(), Placement.replicate());
            assertThatThrownBy(() -> sum.div(three)).hasMessageContaining("not linear");
            assertThat(whole(sum.mul(3))).isEqualTo(12);
        });
    }

    @ParameterizedTest
    @EnumSource(names = {"FLOAT32", "BFLOAT16", "FLOAT16"})
    void shouldKeepTheGradientOfACrossEntropyOfLargeLogits(DType dtype) {
        Backend backend = CpuBackend.get();
        double top = dtype == DType.FLOAT32 ? 10_000 : 128;
        Tensor logits = plain(backend, dtype, Shape.of(1, 6), top, top - 1, 0, -top, 5, 1)
                .requiresGrad(true);
        logits.crossEntropy(Tensors.of(backend, new long[] {3}, 1)).backward();
        double[] gradient = logits.grad().toDoubles();
        double unit = dtype == DType.FLOAT32 ? 1e-6 : 2e-3;
        assertThat(gradient[0]).isCloseTo(0.7310585786, within(unit));
        assertThat(gradient[1]).isCloseTo(0.2689414214, within(unit));
        assertThat(gradient[3]).isEqualTo(-1);
    }
}
