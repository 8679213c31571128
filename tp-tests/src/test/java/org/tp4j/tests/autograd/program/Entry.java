package org.tp4j.tests.autograd.program;

import org.tp4j.layout.DTensor;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * One value of a program, computed twice.
 *
 * @param alone by one rank
 * @param spread by all, laid out somehow; plain where the program has not put it on the mesh
 * @param how where it came from, for messages
 */
record Entry(Tensor alone, Tensor spread, String how) {
    Shape shape() {
        return alone.shape();
    }

    int dims() {
        return alone.shape().dims();
    }

    /** Largest magnitude. */
    double largest() {
        double result = 0;
        for (double v : alone.toDoubles()) {
            result = Math.max(result, Math.abs(v));
        }
        return result;
    }

    /** Least distance of an element to {@code point}: near a kink, rounding decides which side a derivative is of. */
    double distanceTo(double point) {
        double result = Double.MAX_VALUE;
        for (double v : alone.toDoubles()) {
            result = Math.min(result, Math.abs(v - point));
        }
        return result;
    }

    @Override
    public String toString() {
        String layout = spread instanceof DTensor d ? d.layout().toString() : "plain";
        return how + " " + shape() + " " + layout + (alone.requiresGrad() ? " with gradient" : "");
    }
}
