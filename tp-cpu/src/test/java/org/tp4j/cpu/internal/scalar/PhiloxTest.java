package org.tp4j.cpu.internal.scalar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Known-answer vectors of the Random123 distribution (kat_vectors, philox4x32 10 rounds). */
class PhiloxTest {
    @Test
    void shouldGiveTheKnownAnswerForZeros() {
        assertThat(block(0, 0, 0)).containsExactly(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    }

    @Test
    void shouldGiveTheKnownAnswerForOnes() {
        assertThat(block(-1, -1, -1)).containsExactly(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd);
    }

    @Test
    void shouldGiveTheKnownAnswerForDigitsOfPi() {
        assertThat(block(0x299f31d0_a4093822L, 0x85a308d3_243f6a88L, 0x03707344_13198a2eL))
                .containsExactly(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1);
    }

    private static int[] block(long key, long low, long high) {
        int[] words = new int[4];
        Philox.block(key, low, high, words, 0);
        return words;
    }
}
