package org.tp4j.examples.report;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;

/**
 * A chart's axis: what it spans and where it is marked.
 *
 * @param low value at its beginning
 * @param high value at its end
 * @param logarithmic whether equal factors, not equal differences, are equally far
 */
public record ValueAxis(double low, double high, boolean logarithmic) {
    private static final int MOST_TICKS = 6;

    /** Equal differences are equally far. */
    public static ValueAxis linear(double low, double high) {
        return new ValueAxis(low, high > low ? high : low + 1, false);
    }

    /** Equal factors are equally far; from the power of ten below the smallest value to above the largest. */
    public static ValueAxis powersOfTen(double smallest, double largest) {
        double low = Math.pow(10, Math.floor(Math.log10(Math.max(smallest, 1e-12)) + 1e-9));
        return new ValueAxis(low, Math.max(largest * 1.15, low * 10), true);
    }

    /** Where a value lies, 0 at the beginning and 1 at the end; what lies beyond is put there. */
    public double fraction(double value) {
        double part = logarithmic
                ? (Math.log(Math.max(value, 1e-300)) - Math.log(low)) / (Math.log(high) - Math.log(low))
                : (value - low) / (high - low);
        return Math.max(0, Math.min(1, part));
    }

    /** Values to mark: round ones, a handful. */
    public List<Double> ticks() {
        List<Double> ticks = new ArrayList<>();
        if (logarithmic) {
            int decades = (int) Math.ceil(Math.log10(high / low));
            int every = Math.max(1, decades / MOST_TICKS);
            for (double tick = low; tick <= high * 1.0001; tick *= Math.pow(10, every)) {
                ticks.add(tick);
            }
            return ticks;
        }
        double step = roundStep((high - low) / MOST_TICKS);
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

    /** A value as marked. */
    public String label(double tick) {
        return new BigDecimal(tick, new MathContext(4)).stripTrailingZeros().toPlainString();
    }
}
