package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;

/** Compares what several ranks computed with what one computed. */
public final class Close {
    /** A few roundings of 2^-53, and sums taken in another order. */
    public static final double FLOAT64 = 1e-10;

    /** The same for 2^-24. */
    public static final double FLOAT32 = 1e-5;

    private Close() {}

    /** Asserts that all elements agree within {@code tolerance} of the larger of 1 and the expected one. */
    public static void assertClose(String what, double[] actual, double[] expected, double tolerance) {
        assertThat(actual.length).as(what).isEqualTo(expected.length);
        for (int i = 0; i < expected.length; i++) {
            boolean same = Double.compare(actual[i], expected[i]) == 0
                    || Math.abs(actual[i] - expected[i]) <= tolerance * Math.max(1, Math.abs(expected[i]));
            assertThat(same)
                    .as("%s: element %d is %s, on one rank %s", what, i, actual[i], expected[i])
                    .isTrue();
        }
    }
}
