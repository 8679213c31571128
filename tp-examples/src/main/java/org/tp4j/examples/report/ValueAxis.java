package org.tp4j.examples.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;

/**
 * An axis of a chart: its range, scale and ticks.
 *
 * @param low value at the start
 * @param high value at the end
 * @param logarithmic whether the scale is logarithmic
 */
public record ValueAxis(double low, double high, boolean logarithmic) {
    private static final int MAX_TICKS = 6;

    /** A linear axis. */
    public static ValueAxis linear(double low, double high) {
        return new ValueAxis(low, high > low ? high : low + 1, false);
    }

    /** A logarithmic axis, from the power of ten below the smallest value to just above the largest. */
    public static ValueAxis powersOfTen(double smallest, double largest) {
        double low = Math.pow(10, Math.floor(Math.log10(Math.max(smallest, 1e-12)) + 1e-9));
        return new ValueAxis(low, Math.max(largest * 1.15, low * 10), true);
    }

    /** The position of a value, 0 at the start and 1 at the end; values outside the range are clamped. */
    public double fraction(double value) {
        double part = logarithmic
                ? (Math.log(Math.max(value, 1e-300)) - Math.log(low)) / (Math.log(high) - Math.log(low))
                : (value - low) / (high - low);
        return Math.max(0, Math.min(1, part));
    }

    /** Values to label: a handful of round numbers. */
    public List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            int decades = (int) Math.ceil(Math.log10(high / low));
            int every = Math.max(1, decades / MAX_TICKS);
            for (double tick = low; tick <= high * 1.0001; tick *= Math.pow(10, every)) {
                ticks.add(tick);
            }
            return ticks;
        }
        double step = roundStep((high - low) / MAX_TICKS);
        for (long i = (long) Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
            ticks.add(i * step);
        }
        return ticks;
    }

    private static double roundStep(double atLeast) {
        double power = Math.pow(10, Math.floor(Math.log10(atLeast)));
        for (double factor : new double[] {1, 2, 5}) {
            if (factor * power >= atLeast * (1 - 1e-9)) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    /** The label of a tick. */
    public String label(double tick) {
        return new BigDecimal(tick, new MathContext(4)).stripTrailingZeros().toPlainString();
    }
}
