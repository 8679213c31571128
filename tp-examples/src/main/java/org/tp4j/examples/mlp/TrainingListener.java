package org.tp4j.examples.mlp;

/** What is told while a training runs. */
interface TrainingListener {
    /** Listens to nothing. */
    TrainingListener SILENT = new TrainingListener() {};

    /** A step is done. */
    default void step(double loss) {}

    /** An epoch is done and accuracy has been measured. */
    default void epoch(TrainingResult.Epoch epoch) {}
}
