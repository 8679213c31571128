package org.tp4j.tensor.internal.math;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import org.apache.commons.numbers.gamma.Erfc;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The error function against values computed in 50 digits. */
class ErfTest {
    private static final double RELATIVE = 1e-15;
    private static final double BOTH = 2e-15;

    /** Where results are subnormal they are spaced further apart than that. */
    private static final double SUBNORMAL = 2 * Double.MIN_VALUE;

    @ParameterizedTest
    @CsvSource({
        "0.0, 1.0",
        "1e-10, 0.99999999988716208329",
        "0.1, 0.8875370839817151016",
        "0.5, 0.47950012218695346232",
        "0.84375, 0.23277433876765836654",
        "1.0, 0.15729920705028513066",
        "1.25, 0.077099871743541769863",
        "2.0, 0.0046777349810472658379",
        "3.5, 7.4309837234141274552e-7",
        "5.0, 1.5374597944280348502e-12",
        "8.0, 1.122429717298292708e-29",
        "12.3, 9.0299251494820678338e-68",
        "20.0, 5.3958656116079009289e-176",
        "26.0, 5.6631924088561428465e-296",
        "-0.1, 1.1124629160182848984",
        "-0.5, 1.5204998778130465377",
        "-1.0, 1.8427007929497148693",
        "-2.5, 1.9995930479825550411",
        "-6.0, 1.9999999999999999785",
        "-30.0, 2.0"
    })
    void shouldComputeErfcToDoublePrecision(double x, double expected) {
        assertThat(Erf.erfc(x)).isCloseTo(expected, within(Math.abs(expected) * RELATIVE));
    }

    /** Everywhere, within the errors of both. */
    @Test
    void shouldAgreeWithAnotherImplementation() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            double x = i % 3 == 0 ? random.nextGaussian() : (random.nextDouble() - 0.25) * 36;
            double expected = Erfc.value(x);
            assertThat(Erf.erfc(x)).as("erfc(%s)", x).isCloseTo(expected, within(Math.max(expected * BOTH, SUBNORMAL)));
        }
    }
}
