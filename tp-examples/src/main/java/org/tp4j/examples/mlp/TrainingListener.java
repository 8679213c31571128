package org.tp4j.examples.mlp;

/** Receives the progress of a training. */
public interface TrainingListener {
    /** Ignores everything. */
    TrainingListener SILENT = new TrainingListener() {};

    /**
     * Called after each step.
     *
     * @param loss mean loss of the step's batch, before the update
     * @param images size of that batch
     */
    default void step(double loss, int images) {}

    /**
     * Called after each epoch.
     *
     * @param accuracy on the held-out images, between 0 and 1
     */
    default void epoch(double accuracy) {}
}
