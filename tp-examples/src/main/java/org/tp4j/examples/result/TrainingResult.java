package org.tp4j.examples.result;

import java.util.List;

/**
 * Losses, accuracies and speed of a training.
 *
 * @param epochs in order
 * @param stepLosses the loss of each step's batch
 * @param seconds from the first step to the last evaluation
 * @param trainingSeconds the part of it spent in training steps
 * @param samples training images processed, counted once per epoch
 */
public record TrainingResult(
        List<Epoch> epochs, List<Double> stepLosses, double seconds, double trainingSeconds, long samples) {
    /**
     * One epoch.
     *
     * @param number 1-based
     * @param loss mean over its images
     * @param accuracy on the held-out images, after the epoch
     * @param samplesPerSecond throughput of its training steps
     */
    public record Epoch(int number, double loss, double accuracy, double samplesPerSecond) {}

    /** Mean loss of each epoch. */
    public List<Double> losses() {
        return epochs.stream().map(Epoch::loss).toList();
    }

    /** Accuracy on the held-out images after each epoch. */
    public List<Double> accuracies() {
        return epochs.stream().map(Epoch::accuracy).toList();
    }

    /** Mean loss of the last epoch. */
    public double finalLoss() {
        return last().loss();
    }

    /** Accuracy on the held-out images after the last epoch. */
    public double accuracy() {
        return last().accuracy();
    }

    /** Throughput of the training steps. */
    public double samplesPerSecond() {
        return samples / trainingSeconds;
    }

    private Epoch last() {
        return epochs.get(epochs.size() - 1);
    }
}
