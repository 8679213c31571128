package org.tp4j.examples.report;

import static org.assertj.core.api.Assertions.assertThat;

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

class ParameterShardsTest {
    /** Two equal column-parallel layers, as rank 0 sees them. */
    static List<ParameterShards> twoLayers(int ranks, long out) {
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
    void shouldGiveTheRangeOfEachRank() {
        ParameterShards weight = twoLayers(3, 7).get(0);
        assertThat(weight.name()).isEqualTo("0.weight");
        assertThat(weight.range(0)).isEqualTo("rows 0-2");
        assertThat(weight.range(1)).isEqualTo("rows 3-5");
        assertThat(weight.range(2)).isEqualTo("rows 6-6");
        assertThat(weight.bytes(2)).isEqualTo(4 * 4);
    }

    @Test
    void shouldSayWhichRanksHoldNothing() {
        ParameterShards weight = twoLayers(4, 2).get(0);
        assertThat(weight.range(1)).isEqualTo("rows 1-1");
        assertThat(weight.range(3)).isEqualTo("nothing");
    }
}
