package org.tp4j.layout;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where cuts of dimensions fall whose sizes are near the largest number. */
class ShardBoundsTest {
    private static final long MAX = Long.MAX_VALUE;

    @ParameterizedTest
    @CsvSource({"1, 2", "1, 3", "3, 2", "4611686018427387904, 3", "9223372036854775807, 4"})
    void shouldCoverTheWholeDimensionInOrder(long unit, int ranks) {
        Placement.Shard shard = new Placement.Shard(0, unit);
        long end = 0;
        for (int rank = 0; rank < ranks; rank++) {
            assertThat(shard.begin(MAX, rank, ranks)).as("rank " + rank).isEqualTo(end);
            assertThat(shard.count(MAX, rank, ranks)).as("rank " + rank).isNotNegative();
            end += shard.count(MAX, rank, ranks);
        }
        assertThat(end).isEqualTo(MAX);
    }

    @Test
    void shouldCutByTheCeilingRule() {
        Placement.Shard shard = new Placement.Shard(0, 1);
        assertThat(shard.count(MAX, 0, 2)).isEqualTo(MAX / 2 + 1);
        assertThat(shard.count(MAX, 1, 2)).isEqualTo(MAX / 2);
    }
}
