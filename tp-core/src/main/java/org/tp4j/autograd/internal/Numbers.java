package org.tp4j.autograd.internal;

import org.tp4j.tensor.DType;

/** Checks that a number means the same as an element of a tensor. */
final class Numbers {
    private Numbers() {}

    /**
     * The number, which an integer tensor takes only if it is whole: truncated, it would be another, and on pending sums
     * another for each number of ranks.
     */
    static double exact(String operation, DType type, double number) {
        if (!type.isFloating() && number != Math.rint(number)) {
            throw fraction(operation, type, number);
        }
        return number;
    }

    /** A limit: whole for an integer tensor, or beyond all numbers. */
    static double bound(String operation, DType type, double limit) {
        return Double.isInfinite(limit) ? limit : exact(operation, type, limit);
    }

    /** Refuses to divide integers by a number. */
    static void requireFloating(String operation, DType type, double number) {
        if (!type.isFloating()) {
            throw fraction(operation, type, number);
        }
    }

    private static IllegalArgumentException fraction(String operation, DType type, double number) {
        return new IllegalArgumentException(operation + " of a tensor of type " + type + " and " + number
                + " has no exact result; HINT: cast the tensor to a float type first");
    }
}
