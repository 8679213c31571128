package org.tp4j.tensor;

import java.util.ArrayList;
import java.util.List;

/**
 * The work of the host in a step that is being captured, besides launching kernels: counting calls, computing the
 * learning rate. It is repeated, in the same order, each time the captured step runs.
 */
public final class StepRecording {
    private final List<Runnable> hostWork = new ArrayList<>();

    /** An empty recording. */
    public StepRecording() {}

    /** Records work that has just been done and belongs to every run of the step. */
    public void add(Runnable work) {
        hostWork.add(work);
    }

    /**
     * Does {@code work} now and, if the current thread is capturing a step, each time that step runs: how code that keeps
     * count of steps takes part in captured ones.
     */
    public static void everyStep(Runnable work) {
        work.run();
        StepRecording recording = ExecutionContext.current().recording();
        if (recording != null) {
            recording.add(work);
        }
    }

    /** Repeats all the work. */
    public void replay() {
        for (Runnable work : hostWork) {
            work.run();
        }
    }
}
