package org.tp4j.examples.mlp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.tp4j.examples.mlp.Digits.Batch;
import org.tp4j.examples.mlp.Digits.Image;

class DigitsTest {
    private final Digits digits = Digits.load();

    @Test
    void shouldHoldOutAFifthOfEveryDigit() {
        assertThat(digits.train().size() + digits.test().size()).isEqualTo(1797);
        Map<Integer, Long> trained = count(digits.train().images());
        Map<Integer, Long> heldOut = count(digits.test().images());
        for (int digit = 0; digit < Digits.CLASSES; digit++) {
            assertThat(heldOut.get(digit)).isEqualTo((trained.get(digit) + heldOut.get(digit)) / 5);
        }
    }

    private static Map<Integer, Long> count(List<Image> images) {
        return images.stream().collect(Collectors.groupingBy(Image::label, Collectors.counting()));
    }

    @Test
    void shouldScalePixelsToOne() {
        for (Image image : digits.test().images()) {
            assertThat(image.pixels()).hasSize(Digits.PIXELS);
            for (float pixel : image.pixels()) {
                assertThat(pixel).isBetween(0f, 1f);
            }
        }
    }

    @Test
    void shouldShuffleBySeedAndEpochAlone() {
        List<Batch> once = digits.train().batches(64, 42, 3);
        assertThat(digits.train().batches(64, 42, 3)).isEqualTo(once);
        assertThat(digits.train().batches(64, 42, 4)).isNotEqualTo(once);
        assertThat(digits.train().batches(64, 43, 3)).isNotEqualTo(once);
    }

    @Test
    void shouldBatchEveryImageOnce() {
        List<Batch> batches = digits.train().batches(100, 1, 0);
        assertThat(batches).hasSize(15);
        assertThat(batches.get(14).size()).isEqualTo(digits.train().size() - 1400);
        assertThat(batches.stream().flatMap(batch -> batch.images().stream()))
                .containsExactlyInAnyOrderElementsOf(digits.train().images());
    }
}
