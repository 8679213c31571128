package org.tp4j.threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.engine.FakeGroup;

/** Partitions by lists of ranks: every rank in exactly one list, the same lists on every rank. */
class PartitionTest {
    @Test
    void shouldGiveEachRankItsListInTheListsOrder() {
        List<List<Integer>> lists = List.of(List.of(2), List.of(3, 0, 1));
        ThreadRanks.run(4, world -> {
            ProcessGroup mine = world.group().partition("g", lists);
            assertThat(mine.worldRanks()).isEqualTo(world.rank() == 2 ? List.of(2) : List.of(3, 0, 1));
        });
    }

    @Test
    void shouldRefuseListsThatAreNoPartition() {
        ThreadRanks.run(4, world -> {
            for (ProcessGroup group : List.of(world.group(), new FakeGroup(world.rank(), 4))) {
                assertThatThrownBy(() -> group.partition("g", List.of(List.of(0, 1), List.of(1, 2, 3))))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageStartingWith(
                                "partition('g') of group '" + group.name() + "' with ranks [[0, 1], [1, 2, 3]]:")
                        .hasMessageEndingWith(
                                " ranks [1] stand in it twice; HINT: each of the ranks 0 to 3 must stand in it once");
                assertThatThrownBy(() -> group.partition("g", List.of(List.of(0, 1), List.of(2, 4))))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(" ranks [3] are missing; ranks [4] do not exist; HINT: each");
            }
        });
    }

    @Test
    void shouldTellRanksThatGiveDifferentLists() {
        List<List<Integer>> pairs = List.of(List.of(0, 1), List.of(2, 3));
        List<List<Integer>> crossed = List.of(List.of(0, 2), List.of(1, 3));
        ThreadRanks.run(
                4,
                world -> assertThatThrownBy(() -> world.group().partition("g", world.rank() < 2 ? pairs : crossed))
                        .isInstanceOf(CommunicationException.class)
                        .hasMessageContaining("partition('g') of group 'world': rank " + world.rank()
                                + " expects a group of world ranks ")
                        .hasMessageContaining("HINT: give the same lists on every rank"));
    }
}
