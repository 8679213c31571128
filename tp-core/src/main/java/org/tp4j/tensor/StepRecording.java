package org.tp4j.tensor;

import java.util.ArrayList;
import java.util.List;

/**
 * What the host does in a step that is being captured, besides asking the device for work: counting calls, computing the
 * learning rate. It is done again, in the same order, each time the captured step runs.
 */
public final class StepRecording {
    private final List<Runnable> hostWork = new ArrayList<>();

    /** An empty recording. */
    public StepRecording() {}

    /** Notes work that has just been done and belongs to every run of the step. */
    public void add(Runnable work) {
        hostWork.add(work);
    }

    /**
     * Does {@code work}, and again each time the step runs if the current thread is capturing one: how code that keeps
     * count of steps takes part in captured ones.
     */
    public static void everyStep(Runnable work) {
        work.run();
        StepRecording recording = ExecutionContext.current().recording();
        if (recording != null) {
            recording.add(work);
        }
    }

    /** Does all the work again. */
    public void replay() {
        for (Runnable work : hostWork) {
            work.run();
        }
    }
}
