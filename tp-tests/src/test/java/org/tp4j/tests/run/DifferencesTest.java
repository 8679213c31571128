package org.tp4j.tests.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

/** How differences are measured. */
class DifferencesTest {
    private static double relative(double[] actual, double... expected) {
        return Differences.relative(actual, expected);
    }

    @Test
    void shouldBeRelativeToTheLargestElement() {
        assertThat(relative(new double[] {1.5, 100}, 1, -100)).isEqualTo(2);
        assertThat(relative(new double[] {0.001, 100}, 0, 100)).isEqualTo(1e-5);
    }

    @Test
    void shouldBeAbsoluteWhereAllIsZero() {
        assertThat(relative(new double[] {0, 0.25}, 0, 0)).isEqualTo(0.25);
        assertThat(relative(new double[0])).isZero();
    }

    @Test
    void shouldBeInfiniteForNaNAndForWhatShouldBeNaN() {
        assertThat(relative(new double[] {Double.NaN}, 1)).isInfinite();
        assertThat(relative(new double[] {1}, Double.NaN)).isInfinite();
        assertThat(relative(new double[] {Double.NaN}, Double.NaN)).isZero();
        assertThat(relative(new double[] {Double.POSITIVE_INFINITY}, 1)).isInfinite();
        assertThat(relative(new double[] {Double.POSITIVE_INFINITY}, Double.POSITIVE_INFINITY))
                .isZero();
    }

    @Test
    void shouldNameTheTensorThatDiffersMost() {
        Differences differences = new Differences();
        differences.compare("a", 1, 1.5);
        differences.compare("b", 2, 1);
        assertThat(differences.where()).isEqualTo("b");
        assertThat(differences.worst()).isEqualTo(1);
        assertThatThrownBy(() -> differences.compare("c", new double[1], new double[2]))
                .hasMessage("c has 1 elements where 2 are expected");
    }
}
