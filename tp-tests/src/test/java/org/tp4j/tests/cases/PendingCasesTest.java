package org.tp4j.tests.cases;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** Cases A04, A05 and A06: pending sums. */
class PendingCasesTest {
    private static final Placement INVARIANT = Placement.invariant();
    private static final Placement REPLICATE = Placement.replicate();

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldAddANumberToAPendingSumOnce(int ranks) {
        Cases a = Cases.of("A04");
        Ranks.run(ranks, rank -> {
            Tensor x =
                    DTensors.distribute(a.tensor(rank.backend(), DType.FLOAT64, "x"), rank.mesh(), Placement.shard(0));
            DTensor s = (DTensor) x.sum();
            assertThat(s.layout().placement(0)).isEqualTo(Placement.partial());
            assertThat(s.local().toDoubles()).containsExactly(a.doubles("partial_locals/" + ranks)[rank.number()]);
            Tensor ten = DTensors.distribute(rank.tensor(Shape.of(1), 10), rank.mesh(), REPLICATE);
            Map<String, Tensor> results = new TreeMap<>();
            results.put("s+10", s.add(10));
            results.put("10+s", rank.tensor(Shape.scalar(), 10).add(s));
            results.put("s-10", s.sub(10));
            results.put("10-s", rank.tensor(Shape.scalar(), 10).sub(s));
            results.put("s*10", s.mul(10));
            results.put("s/10", s.div(10));
            results.put("s+replicated([10])", s.add(ten));
            results.put("s+s", s.add(s));
            results.put("-s", s.neg());
            assertThat(results).hasSameSizeAs(a.at("expected"));
            results.forEach((name, result) -> {
                double[] value =
                        ((DTensor) result).redistribute("tp", INVARIANT).toDoubles();
                double[] expected = Cases.doubles(a.at("expected").get(name));
                Cases.assertClose(name, value, expected, DType.FLOAT64);
            });
        });
    }

    @ParameterizedTest
    @CsvSource({"2,0", "2,1", "3,0", "3,1", "4,0", "4,1"})
    void shouldScatterAPendingSumIntoUnevenShards(int ranks, int dim) {
        Cases a = Cases.of("A05");
        Ranks.run(ranks, rank -> {
            Tensor base = a.tensor(rank.backend(), DType.FLOAT64, "base");
            Layout pending = rank.layout(base.shape(), Placement.partial());
            DTensor x = DTensors.fromLocal(base.mul(rank.number() + 1), base.shape(), pending);
            DTensor cut = x.redistribute(Placement.shard(dim));
            String at = "by_T/" + ranks + "/dim" + dim;
            assertThat(cut.local().toDoubles())
                    .isEqualTo(Cases.doubles(a.at(at + "_locals").get(rank.number())));
            assertThat(cut.local().shape()).isEqualTo(base.shape().with(dim, a.longs(at + "_sizes")[rank.number()]));
            assertThat(cut.fullTensor().toDoubles()).isEqualTo(a.doubles("by_T/" + ranks + "/sum"));
        });
    }

    @ParameterizedTest
    @CsvSource({"2,false", "2,true", "3,false", "3,true", "4,false", "4,true"})
    void shouldKeepGradientsWhenAPendingSumIsTakenApart(int ranks, boolean apart) {
        Cases a = Cases.of("A06");
        String at = "by_T/" + ranks + "/";
        Ranks.run(ranks, rank -> {
            DTensor x = leaf(rank, a.doubles(at + "x"));
            DTensor w = leaf(rank, a.doubles(at + "w"));
            DTensor s = (DTensor) x.mul(w).sum();
            assertThat(s.local().toDoubles()).containsExactly(a.doubles(at + "partial_locals")[rank.number()]);
            if (apart) {
                Tensor local = s.toLocal(REPLICATE);
                s = DTensors.fromLocal(local, rank.mesh(), Placement.partial());
            }
            DTensor y = s.redistribute("tp", INVARIANT);
            assertThat(y.item()).isEqualTo(a.number(at + "y"));
            Tensor loss = y.square();
            assertThat(loss.item()).isEqualTo(a.number(at + "loss"));
            loss.backward();
            assertThat(x.grad().local().toDoubles()).containsExactly(a.doubles(at + "grad_x")[rank.number()]);
            assertThat(w.grad().local().toDoubles()).containsExactly(a.doubles(at + "grad_w")[rank.number()]);
        });
    }

    /** A sharded leaf of which this rank holds one element. */
    private static DTensor leaf(Rank rank, double... all) {
        DTensor leaf =
                DTensors.fromLocal(rank.tensor(Shape.of(1), all[rank.number()]), rank.mesh(), Placement.shard(0));
        leaf.requiresGrad(true);
        return leaf;
    }
}
