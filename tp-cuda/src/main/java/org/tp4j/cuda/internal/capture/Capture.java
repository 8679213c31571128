package org.tp4j.cuda.internal.capture;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.StepNumber;

/** The current thread's capture, if any. The only per-thread state of captures. */
public final class Capture {
    private static final ThreadLocal<@Nullable Capture> CURRENT = new ThreadLocal<>();

    private final StepSlots slots;
    private final IdChecks idChecks;

    private Capture(StepSlots slots, IdChecks idChecks) {
        this.slots = slots;
        this.idChecks = idChecks;
    }

    /** Kernels launched on this thread belong to a step with these slots and checks, until {@link #end}. */
    static void begin(StepSlots slots, IdChecks idChecks) {
        CURRENT.set(new Capture(slots, idChecks));
    }

    static void end() {
        CURRENT.remove();
    }

    /** The address from which the captured step's kernels read a number; 0 outside a capture. */
    public static long addressOf(StepNumber number) {
        Capture current = CURRENT.get();
        return current == null ? 0 : current.slots.addressOf(number);
    }

    /** The captured step's id checks; null outside a capture. */
    public static @Nullable IdChecks idChecks() {
        Capture current = CURRENT.get();
        return current == null ? null : current.idChecks;
    }
}
