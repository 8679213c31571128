package org.tp4j.threads;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.tp4j.comm.GroupNumbers;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

class GroupNumbersTest {
    @Test
    void shouldGatherNumbersInRankOrder() {
        ThreadRanks.run(3, world -> {
            long rank = world.rank();
            assertThat(GroupNumbers.allGather(world.group(), world.backend(), rank, Long.MIN_VALUE + rank))
                    .containsExactly(0, Long.MIN_VALUE, 1, Long.MIN_VALUE + 1, 2, Long.MIN_VALUE + 2);
        });
    }

    @Test
    void shouldGatherFlagsInRankOrder() {
        ThreadRanks.run(
                3,
                world -> assertThat(GroupNumbers.allGather(
                                world.group(), world.backend(), new boolean[] {world.rank() == 1, true}))
                        .containsExactly(false, true, true, true, false, true));
    }

    @Test
    void shouldSendOneNumberToEachRank() {
        ThreadRanks.run(3, world -> {
            long tens = 10L * world.rank();
            assertThat(GroupNumbers.allToAll(world.group(), world.backend(), new long[] {tens, tens + 1, tens + 2}))
                    .containsExactly(world.rank(), 10 + world.rank(), 20 + world.rank());
        });
    }

    @Test
    void shouldGatherArraysAsRows() {
        ThreadRanks.run(2, world -> {
            NdArray mine = NdArray.full(world.backend(), DType.FLOAT64, Shape.of(3), world.rank());
            assertThat(GroupNumbers.allGather(world.group(), mine).shape()).isEqualTo(Shape.of(2, 3));
        });
    }
}
