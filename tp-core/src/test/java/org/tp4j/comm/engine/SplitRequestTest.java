package org.tp4j.comm.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.CommunicationException;

class SplitRequestTest {
    private static SplitRequest request(int rank, int color, int key, String name) {
        return new SplitRequest(rank, color, key, name.hashCode());
    }

    @Test
    void shouldOrderByKeyThenRankWithinAColor() {
        List<SplitRequest> all =
                List.of(request(0, 7, 5, "a"), request(1, 8, 0, "b"), request(2, 7, -1, "a"), request(3, 7, 5, "a"));
        assertThat(SplitRequest.members(all, 0, "a")).containsExactly(2, 0, 3);
        assertThat(SplitRequest.members(all, 1, "b")).containsExactly(1);
    }

    @Test
    void shouldRefuseDifferentNamesForOneColor() {
        List<SplitRequest> all = List.of(request(0, 1, 0, "a"), request(1, 1, 0, "b"));
        assertThatThrownBy(() -> SplitRequest.members(all, 0, "a"))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("rank 0 names it 'a', rank 1 does not")
                .hasMessageContaining("HINT: give split the same name");
    }
}
