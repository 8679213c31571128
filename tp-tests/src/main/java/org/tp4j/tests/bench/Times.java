package org.tp4j.tests.bench;

import java.util.Arrays;

/** Durations in milliseconds. */
final class Times {
    private final double[] all;
    private int count;

    Times(int capacity) {
        all = new double[capacity];
    }

    void addNanos(double nanos) {
        all[count++] = nanos * 1e-6;
    }

    private double[] sorted() {
        double[] sorted = Arrays.copyOf(all, count);
        Arrays.sort(sorted);
        return sorted;
    }

    double median() {
        double[] sorted = sorted();
        return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
    }

    double min() {
        return sorted()[0];
    }

    double max() {
        return sorted()[count - 1];
    }
}
