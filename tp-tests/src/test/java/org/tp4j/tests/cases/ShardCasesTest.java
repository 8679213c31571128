package org.tp4j.tests.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Cases A01, A02, A03, A07 and A28: what shards hold. */
class ShardCasesTest {
    private static final Placement REPLICATE = Placement.replicate();
    private static final Placement INVARIANT = Placement.invariant();

    /** What a rank holds must be the list by rank, whose empty entries keep the other dimensions. */
    private static void assertLocal(Rank rank, Cases a, String locals, DTensor tensor) {
        JsonNode mine = a.at(locals).get(rank.number());
        assertThat(tensor.local().toDoubles()).as(locals).isEqualTo(Cases.doubles(mine));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldBringUnevenAndEmptyShardsBackWhole(int ranks) {
        Cases a = Cases.of("A01");
        Ranks.run(ranks, rank -> {
            for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
                DTensor x = replicated(rank, a.tensor(rank.backend(), dtype, "x"));
                DTensor rows = x.redistribute(Placement.shard(0));
                assertLocal(rank, a, "shard_dim0_locals/" + ranks, rows);
                assertThat(rows.local().dtype()).isEqualTo(dtype);
                assertThat(rows.local().shape().size(1)).isEqualTo(2);
                assertExact(a, "x", rows.redistribute(REPLICATE));
                DTensor x2 = replicated(rank, a.tensor(rank.backend(), dtype, "x2"));
                DTensor columns = x2.redistribute(Placement.shard(1));
                assertLocal(rank, a, "shard_dim1_locals/" + ranks, columns);
                assertThat(columns.local().shape().size(0)).isEqualTo(2);
                assertExact(a, "x2", columns.redistribute(INVARIANT));
                if (ranks == 4) {
                    assertLocal(rank, a, "shard0_to_shard1_T4_locals", rows.redistribute(Placement.shard(1)));
                    assertThat(rows.redistribute(Placement.shard(1)).local().shape())
                            .isEqualTo(Shape.of(Cases.longs(
                                    a.at("shard0_to_shard1_T4_shapes").get(rank.number()))));
                }
            }
        });
    }

    private static DTensor replicated(Rank rank, Tensor whole) {
        return DTensors.distribute(whole, rank.mesh(), REPLICATE);
    }

    private static void assertExact(Cases a, String path, DTensor whole) {
        assertThat(whole.local().shape()).isEqualTo(a.shape(path));
        assertThat(whole.toDoubles()).isEqualTo(a.doubles(path));
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "2", "3", "5", "6", "7"})
    void shouldCutByTheCeilingRule(int n) {
        Cases a = Cases.of("A01");
        for (int ranks : new int[] {2, 3, 4}) {
            long[] sizes = a.longs("sizes/n=" + n + ",T=" + ranks);
            Ranks.run(ranks, rank -> {
                Tensor x = rank.tensor(Shape.of(n, 2), new double[2 * n]);
                DTensor cut = DTensors.distribute(x, rank.mesh(), Placement.shard(0));
                assertThat(cut.local().shape()).isEqualTo(Shape.of(sizes[rank.number()], 2));
                assertThat(cut.fullTensor().shape()).isEqualTo(Shape.of(n, 2));
            });
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldReduceOverUnevenAndEmptyShards(int ranks) {
        Cases a = Cases.of("A02");
        Ranks.run(ranks, rank -> {
            DTensor x = cut(rank, a, "x");
            x.requiresGrad(true);
            DTensor mean = (DTensor) x.mean();
            assertThat(invariant(mean).item()).isEqualTo(a.number("by_T/" + ranks + "/mean"));
            mean.backward(); // from the pending sum
            a.assertIs("grad_of_mean", x.grad());
            a.assertIs("mean_dim0", invariant(x.mean(false, 0)));
            a.assertIs("mean_dim1", x.mean(false, 1));
            assertThat(invariant(cut(rank, a, "x_one_row").mean()).item()).isEqualTo(a.number("mean_one_row"));
            for (String name : List.of("v", "u")) {
                DTensor v = cut(rank, a, name);
                assertThat(invariant(v.max(false)).item()).isEqualTo(a.number("max_" + name));
                assertThat(invariant(v.min(false)).item()).isEqualTo(a.number("min_" + name));
                assertThat(invariant(v.sum()).item()).isEqualTo(a.number("sum_" + name));
            }
        });
    }

    private static DTensor cut(Rank rank, Cases a, String path) {
        return DTensors.distribute(a.tensor(rank.backend(), DType.FLOAT64, path), rank.mesh(), Placement.shard(0));
    }

    private static DTensor invariant(Tensor tensor) {
        return ((DTensor) tensor).redistribute("tp", INVARIANT);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4})
    void shouldSayHowToTakeVarianceAndDifferentiableMaximumOfShards(int ranks) {
        Cases a = Cases.of("A02");
        Ranks.run(ranks, rank -> {
            DTensor x = cut(rank, a, "x");
            assertThatThrownBy(() -> x.variance(true, false))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("variance")
                    .hasMessageContaining("HINT: redistribute(\"tp\", Placement.invariant())");
            assertThat(invariant(x).variance(true, false).item()).isEqualTo(a.number("var_unbiased_all"));
            Cases.assertClose(
                    "biased variance",
                    invariant(x).variance(false, false).toDoubles(),
                    a.doubles("var_biased_all"),
                    DType.FLOAT64);
            DTensor v = cut(rank, a, "v");
            v.requiresGrad(true);
            assertThatThrownBy(() -> v.max(false))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("carries no gradient")
                    .hasMessageContaining("HINT: redistribute operand 0 to Replicate on axis 'tp' first");
            DTensor max = (DTensor) v.redistribute("tp", REPLICATE).max(false);
            invariant(max).backward();
            a.assertIs("grad_of_max_v", v.grad());
        });
    }

    @Test
    void shouldReportLocalPiecesThatDoNotFit() {
        Cases a = Cases.of("A03");
        Ranks.run(4, rank -> {
            JsonNode piece = a.at("locals").get(rank.number());
            double[] elements = Cases.doubles(piece);
            Tensor local = rank.tensor(Shape.of(elements.length / 2, 2), elements);
            Layout layout = rank.layout(Shape.of(6, 2), Placement.shard(0));
            assertRefused(
                    () -> DTensors.fromLocal(local, Shape.of(6, 2), layout), "[1, 2]", "[3, 2]", "[0, 2]", "[6, 2]");
            assertRefused(
                    () -> DTensors.fromLocal(local, rank.mesh(), Placement.shard(0)), "[1, 2]", "[3, 2]", "[0, 2]");
        });
        Ranks.run(2, rank -> {
            boolean first = rank.number() == 0;
            Tensor other = rank.tensor(Shape.of(2, first ? 2 : 3), new double[first ? 4 : 6]);
            assertRefused(() -> DTensors.fromLocal(other, rank.mesh(), Placement.shard(0)), "[2, 2]", "[2, 3]");
            Tensor type = rank.tensor(Shape.of(2), 1, 2).cast(first ? DType.FLOAT32 : DType.FLOAT64);
            assertRefused(() -> DTensors.fromLocal(type, rank.mesh(), Placement.shard(0)), "float32", "float64");
            Tensor dims = rank.tensor(first ? Shape.of(4) : Shape.of(2, 2), 1, 2, 3, 4);
            assertRefused(() -> DTensors.fromLocal(dims, rank.mesh(), Placement.shard(0)), "[4]", "[2, 2]");
        });
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String... named) {
        assertThatThrownBy(call)
                .isInstanceOf(LayoutException.class)
                .hasMessageStartingWith("fromLocal")
                .hasMessageContainingAll(named)
                .hasMessageContaining("HINT: ");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldCountNegativeDimensionsFromTheEnd(int ranks) {
        Cases a = Cases.of("A07");
        Ranks.run(ranks, rank -> {
            for (String pairs : List.of("equal_pairs_for_rank2", "equal_pairs_for_rank3")) {
                for (JsonNode pair : a.at(pairs)) {
                    int dims = pairs.endsWith("2") ? 2 : 3;
                    Layout negative = Layout.of(
                            rank.mesh(), dims, Placement.shard(pair.get(0).asInt()));
                    Layout positive = Layout.of(
                            rank.mesh(), dims, Placement.shard(pair.get(1).asInt()));
                    assertThat(negative).isEqualTo(positive).hasSameHashCodeAs(positive);
                }
            }
            Tensor x = a.tensor(rank.backend(), DType.FLOAT64, "x");
            DTensor cut = DTensors.distribute(x, rank.mesh(), Placement.shard(1));
            rank.log().clear();
            DTensor same = cut.redistribute(Placement.shard(-1));
            assertThat(rank.log().count()).isEqualTo((int) a.number("collectives_for_same_layout"));
            assertThat(same.local().toDoubles()).isEqualTo(cut.local().toDoubles());
            for (long dim : a.longs("invalid_for_rank2")) {
                assertThatThrownBy(() -> cut.redistribute(Placement.shard((int) dim)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("a tensor of 2 dimensions has no dimension " + dim);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldCutOneDimensionByBothAxesInEitherOrder(boolean dpOuter) {
        Cases a = Cases.of("A28");
        Ranks.run(List.of(2, 2), rank -> {
            double[] all = a.doubles("right_gather");
            Layout layout = rank.layout(Shape.of(8), Placement.shard(0), Placement.shard(0))
                    .withCutOrder(dpOuter ? new String[] {"dp", "tp"} : new String[] {"tp", "dp"});
            DTensor x = DTensors.distribute(rank.tensor(Shape.of(8), all), layout);
            String place =
                    rank.mesh().axis(0).coordinate() + "," + rank.mesh().axis(1).coordinate();
            assertThat(x.local().toDoubles())
                    .isEqualTo(a.doubles((dpOuter ? "dp_outer_then_tp/" : "tp_outer_then_dp/") + place));
            assertThat(x.fullTensor().toDoubles()).isEqualTo(all);
            assertThat(rank.value(x)).isEqualTo(all);
            assertThat(rank.place(Whole.of(Shape.of(8), all), layout, 1).local().toDoubles())
                    .isEqualTo(x.local().toDoubles());
        });
    }
}
