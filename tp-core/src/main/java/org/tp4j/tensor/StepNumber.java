package org.tp4j.tensor;

import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * A number that the host computes and a kernel reads: the stream of a dropout, a learning rate. In a captured step it is
 * computed again each time the step runs, in the same order.
 */
public final class StepNumber {
    private final boolean varies;
    private long bits;

    private StepNumber(boolean varies, long bits) {
        this.varies = varies;
        this.bits = bits;
    }

    /** A constant. */
    public static StepNumber of(long value) {
        return new StepNumber(false, value);
    }

    /** The value of a formula now, and in each later run of the step that is being captured, if any. */
    public static StepNumber compute(LongSupplier formula) {
        StepRecording recording = ExecutionContext.current().recording();
        StepNumber number = new StepNumber(recording != null, formula.getAsLong());
        if (recording != null) {
            recording.add(() -> number.bits = formula.getAsLong());
        }
        return number;
    }

    /** As {@link #of(long)} for a fraction. */
    public static StepNumber ofDouble(double value) {
        return of(Double.doubleToRawLongBits(value));
    }

    /** As {@link #compute} for a fraction. */
    public static StepNumber computeDouble(DoubleSupplier formula) {
        return compute(() -> Double.doubleToRawLongBits(formula.getAsDouble()));
    }

    /** The number now. */
    public long asLong() {
        return bits;
    }

    /** The number now, of one made from a double. */
    public double asDouble() {
        return Double.longBitsToDouble(bits);
    }

    /** The 64 bits passed to a kernel. */
    public long bits() {
        return bits;
    }

    /** Whether it is computed again for each run of a captured step. */
    public boolean varies() {
        return varies;
    }
}
