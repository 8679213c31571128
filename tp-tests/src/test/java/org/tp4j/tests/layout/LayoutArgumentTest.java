package org.tp4j.tests.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tests.oracle.Ranks;

/** What meshes and layouts say about invalid arguments. */
class LayoutArgumentTest {
    @Test
    void shouldCheckMeshes() {
        Ranks.run(2, rank -> {
            assertThatThrownBy(() -> DeviceMesh.of(rank.world(), Map.entry("dp", 2), Map.entry("tp", 2)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("needs 4 ranks, but group 'world' has 2")
                    .hasMessageContaining("HINT: the product of the axis sizes must be the number of ranks");
            assertThatThrownBy(() -> DeviceMesh.of(rank.world(), Map.entry("tp", 1), Map.entry("tp", 2)))
                    .hasMessageContaining("mesh axes need distinct, non-empty names and sizes of at least 1");
            assertThatThrownBy(() -> rank.mesh().axis("dp"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("mesh (tp=2) has no axis 'dp'; HINT: its axes are [tp]");
            for (int number : new int[] {-1, 1, 2}) {
                assertThatThrownBy(() -> rank.mesh().axis(number))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("mesh (tp=2) has no axis number " + number + "; HINT: they count from 0 to 0");
            }
            assertThatThrownBy(() -> rank.mesh().slice("tp", "tp")).hasMessageContaining("'tp' is listed twice");
            assertThatThrownBy(() -> rank.mesh().slice()).hasMessageContaining("needs at least one axis");
        });
    }

    @Test
    void shouldPutRanksWhereTheListSays() {
        Ranks.run(4, rank -> {
            List<Map.Entry<String, Integer>> axes = List.of(Map.entry("dp", 2), Map.entry("tp", 2));
            DeviceMesh mesh = DeviceMesh.of(rank.world().group(), rank.world().backend(), axes, List.of(0, 2, 3, 1));
            // rows: 0 2, 3 1
            List<List<Integer>> tp = List.of(List.of(0, 2), List.of(3, 1), List.of(0, 2), List.of(3, 1));
            List<List<Integer>> dp = List.of(List.of(0, 3), List.of(2, 1), List.of(2, 1), List.of(0, 3));
            assertThat(mesh.axis("tp").group().worldRanks()).isEqualTo(tp.get(rank.number()));
            assertThat(mesh.axis("dp").group().worldRanks()).isEqualTo(dp.get(rank.number()));
            assertThat(mesh.flatten("all", "dp", "tp").axis(0).group().worldRanks())
                    .containsExactly(0, 2, 3, 1);
            assertThatThrownBy(() ->
                            DeviceMesh.of(rank.world().group(), rank.world().backend(), axes, List.of(0, 2, 2, 7)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(
                            "a mesh of [dp=2, tp=2] with ranks [0, 2, 2, 7]: ranks [2] stand in it twice; ranks [1, 3]"
                                    + " are missing; ranks [7] do not exist; HINT: each of the ranks 0 to 3 must stand in it once");
        });
    }

    @Test
    void shouldCheckLayouts() {
        Ranks.run(List.of(2, 1), rank -> {
            Placement rows = Placement.shard(0);
            assertThatThrownBy(() -> Layout.of(rank.mesh(), 2, rows))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("mesh (dp=2, tp=1) has 2 axes, but 1 placements are given")
                    .hasMessageContaining("HINT: one placement for each axis");
            assertThatThrownBy(() -> Layout.of(rank.mesh(), 2, rows, Placement.shard(-3)))
                    .hasMessage("Shard(-3) on mesh axis 'tp': a tensor of 2 dimensions has no dimension -3");
            assertThatThrownBy(() -> new Shard(0, 0)).hasMessageContaining("a shard's unit must be at least 1, was 0");
            Layout layout = Layout.of(rank.mesh(), 2, rows, rows);
            assertThatThrownBy(() -> layout.withCutOrder("dp"))
                    .hasMessageContaining("the cut order [dp] must name each sharded axis")
                    .hasMessageContaining("once");
            assertThatThrownBy(() -> Layout.of(rank.mesh(), 2, List.of(rows, rows), List.of(0)))
                    .hasMessageContaining("the cut order [0] must name each sharded axis");
        });
    }

    @Test
    void shouldCompareMeshPlacementsOrderAndUnits() {
        Ranks.run(List.of(1, 1), rank -> {
            Placement rows = Placement.shard(0);
            Layout layout = Layout.of(rank.mesh(), 2, rows, rows);
            assertThat(layout)
                    .isEqualTo(Layout.of(rank.mesh(), 2, rows, Placement.shard(-2)))
                    .isEqualTo(layout.withCutOrder("dp", "tp"))
                    .isNotEqualTo(layout.withCutOrder("tp", "dp"))
                    .isNotEqualTo(Layout.of(rank.mesh(), 2, rows, new Shard(0, 2)))
                    .isNotEqualTo(Layout.of(rank.mesh(), 2, rows, Placement.shard(1)));
            assertThat(layout.withCutOrder("tp", "dp"))
                    .hasToString("[dp: Shard(0), tp: Shard(0); cut in the order tp, dp]");
        });
    }
}
