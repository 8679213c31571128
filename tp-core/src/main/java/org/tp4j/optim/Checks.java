package org.tp4j.optim;

/** Checks the ranges of options. */
final class Checks {
    private Checks() {}

    static void notNegative(String what, double value) {
        if (!(value >= 0 && value < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(what + " must be finite and at least 0, was " + value);
        }
    }

    static void positive(String what, double value) {
        if (!(value > 0 && value < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(what + " must be finite and above 0, was " + value
                    + (value == 0 ? "; HINT: with 0 a gradient that is always 0 gives NaN; 1e-8 is usual" : ""));
        }
    }

    static void belowOne(String what, double value) {
        if (!(value >= 0 && value < 1)) {
            throw new IllegalArgumentException(what + " must be at least 0 and below 1, was " + value);
        }
    }
}
