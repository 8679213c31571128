package org.tp4j.examples.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.tensor.DType;
import org.tp4j.threads.ThreadRanks;

class ReportPartsTest {
    private static List<ParameterShards> shards(int ranks, long out) {
        return ThreadRanks.call(ranks, world -> {
                    Sequential model = new Sequential(new Linear(4, out, true), new Linear(4, out, true));
                    Parallelize.apply(
                            model,
                            DeviceMesh.of(world, "tp"),
                            Map.of("0", new ColwiseParallel(), "1", new ColwiseParallel()));
                    model.materialize(world.backend(), DType.FLOAT32, 1);
                    return ParameterShards.of(model, ranks);
                })
                .get(0);
    }

    @Test
    void shouldTellWhatEachRankHolds() {
        ParameterShards weight = shards(3, 7).get(0);
        assertThat(weight.name()).isEqualTo("0.weight");
        assertThat(weight.held(0)).isEqualTo("rows 0-2");
        assertThat(weight.held(1)).isEqualTo("rows 3-5");
        assertThat(weight.held(2)).isEqualTo("rows 6-6");
        assertThat(weight.bytes(2)).isEqualTo(4 * 4);
    }

    @Test
    void shouldTellRanksThatHoldNothing() {
        ParameterShards weight = shards(4, 2).get(0);
        assertThat(weight.held(1)).isEqualTo("rows 1-1");
        assertThat(weight.held(3)).isEqualTo("nothing");
    }

    @Test
    void shouldDrawRepeatedModulesOnce() {
        String picture = new ShardPicture(shards(2, 6), 2).html();
        assertThat(picture).containsOnlyOnce("<h3>* <small>&times; 2</small></h3>");
        assertThat(picture).contains("rank 0: rows 0-2", "rank 1: rows 3-5");
    }

    @Test
    void shouldEscapeText() {
        assertThat(Html.text("<a href=\"x\">&</a>")).isEqualTo("&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
    }

    @Test
    void shouldMarkAxesAtRoundNumbers() {
        assertThat(ValueAxis.linear(0.9, 1).ticks().stream().map(ValueAxis.linear(0, 1)::label))
                .containsExactly("0.9", "0.92", "0.94", "0.96", "0.98", "1");
        ValueAxis decades = ValueAxis.powersOfTen(0.004, 2.5);
        assertThat(decades.ticks().stream().map(decades::label)).containsExactly("0.001", "0.01", "0.1", "1");
        assertThat(decades.fraction(0.001)).isCloseTo(0, within(1e-9));
        assertThat(decades.fraction(1e9)).isEqualTo(1);
    }

    @Test
    void shouldDrawASingleMeasurement() {
        LineChart.Series only = new LineChart.Series("a", "main", new double[] {1}, new double[] {0.5}, true);
        String chart = new LineChart("t", "x", ValueAxis.linear(0, 1), List.of(only)).html();
        assertThat(chart).contains("<circle").doesNotContain("NaN").doesNotContain("Infinity");
    }
}
