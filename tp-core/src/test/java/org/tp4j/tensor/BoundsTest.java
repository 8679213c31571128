package org.tp4j.tensor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.tensor.meta.MetaBackend;

/** Bounds of boxes and windows at numbers whose sums overflow. */
class BoundsTest {
    @ParameterizedTest
    @ValueSource(longs = {7, 10, Long.MAX_VALUE - 3, Long.MAX_VALUE, -1, Long.MIN_VALUE})
    void shouldRefuseARegionThatReachesOutside(long offset) {
        assertThatThrownBy(() -> new Region(Shape.of(10), Shape.of(4), new long[] {offset}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("region of [4] at [" + offset + "] reaches outside [10]");
    }

    @Test
    void shouldTakeARegionUpToTheEnd() {
        assertThat(new Region(Shape.of(10), Shape.of(4), new long[] {6}).isWhole())
                .isFalse();
        assertThat(new Region(Shape.of(Long.MAX_VALUE), Shape.of(1), new long[] {Long.MAX_VALUE - 1}).offsets())
                .containsExactly(Long.MAX_VALUE - 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {7, Long.MAX_VALUE - 3, Long.MAX_VALUE, -1})
    void shouldRefuseAWindowThatReachesPastTheStorage(long offset) {
        NdArray ten = NdArray.allocate(MetaBackend.get(), DType.FLOAT32, Shape.of(10));
        assertThatThrownBy(() -> new NdArray(ten.backend(), ten.storage(), offset, Shape.of(4)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a window of shape [4] at offset " + offset)
                .hasMessageContaining("reaches past the 10 elements of its storage");
        NdArray last = ten.window(9, Shape.of(1));
        assertThatThrownBy(() -> last.window(Long.MAX_VALUE, Shape.of(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("reaches past the 10 elements of its storage");
    }
}
