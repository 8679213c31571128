package org.tp4j.tests.run;

import java.util.Arrays;
import org.tp4j.layout.DTensor;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Largest relative difference of several tensors from what they should be. The difference of two tensors is that of their
 * elements, at most, relative to the largest element that should be there (absolute where all of them are 0), so that what
 * cancels out does not count; a NaN that should not be there is infinitely far away.
 */
public final class Differences {
    private double worst;
    private String where = "";

    /**
     * Compares; every rank must call it, as a tensor on a mesh is put together for it.
     *
     * @param what name of the tensor
     * @throws IllegalStateException if the shapes differ
     */
    public void compare(String what, Tensor actual, Tensor expected) {
        compare(what, actual.shape(), values(actual), expected.shape(), values(expected));
    }

    /** As {@link #compare(String, Tensor, Tensor)} for elements and their shapes. */
    public void compare(String what, Shape shape, double[] actual, Shape expectedShape, double[] expected) {
        if (!shape.equals(expectedShape)) {
            throw new IllegalStateException(what + " has shape " + shape + " where " + expectedShape + " is expected");
        }
        add(what, relative(actual, expected));
    }

    /** Compares elements of one shape. */
    public void compare(String what, double[] actual, double[] expected) {
        if (actual.length != expected.length) {
            throw new IllegalStateException(
                    what + " has " + actual.length + " elements where " + expected.length + " are expected");
        }
        add(what, relative(actual, expected));
    }

    /** Compares two numbers. */
    public void compare(String what, double actual, double expected) {
        add(what, relative(new double[] {actual}, new double[] {expected}));
    }

    private void add(String what, double error) {
        if (error > worst) {
            worst = error;
            where = what;
        }
    }

    /** All elements of a whole tensor. */
    public static double[] values(Tensor tensor) {
        return (tensor instanceof DTensor d ? d.fullTensor() : tensor).toDoubles();
    }

    /** Largest difference, relative to the largest expected element. */
    public static double relative(double[] actual, double[] expected) {
        double scale = Arrays.stream(expected).map(Math::abs).max().orElse(0);
        double difference = 0;
        for (int i = 0; i < expected.length; i++) {
            boolean same = Double.compare(actual[i], expected[i]) == 0;
            double d = same ? 0 : Math.abs(actual[i] - expected[i]);
            difference = Math.max(difference, Double.isNaN(d) ? Double.POSITIVE_INFINITY : d);
        }
        return scale > 0 && Double.isFinite(scale) ? difference / scale : difference;
    }

    /** The largest so far. */
    public double worst() {
        return worst;
    }

    /** Name of the tensor that differs most; empty if none does. */
    public String where() {
        return where;
    }
}
