package org.tp4j.examples.mlp;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.tensor.TpException;

/**
 * What a training gave.
 *
 * @param epochs by epoch
 * @param stepLosses the loss of each step's batch
 * @param seconds from the first step to the last measurement of accuracy
 * @param trainingSeconds thereof in training steps
 * @param samples images trained on, each counted as often as it was seen
 */
record TrainingResult(
        List<Epoch> epochs, List<Double> stepLosses, double seconds, double trainingSeconds, long samples) {
    /**
     * One epoch.
     *
     * @param number from 1
     * @param loss mean over its images
     * @param accuracy on the images held out, after it
     * @param samplesPerSecond in its training steps
     */
    record Epoch(int number, double loss, double accuracy, double samplesPerSecond) {}

    /** Mean loss of each epoch. */
    List<Double> losses() {
        return epochs.stream().map(Epoch::loss).toList();
    }

    /** Mean loss of the last epoch. */
    double finalLoss() {
        return last().loss();
    }

    /** Accuracy on the images held out, after the last epoch. */
    double accuracy() {
        return last().accuracy();
    }

    double samplesPerSecond() {
        return samples / trainingSeconds;
    }

    private Epoch last() {
        return epochs.get(epochs.size() - 1);
    }

    /** Gathers it while it happens. */
    static final class Recorder {
        private final TrainingListener listener;
        private final List<Epoch> epochs = new ArrayList<>();
        private final List<Double> losses = new ArrayList<>();
        private final long begin = System.nanoTime();
        private long epochBegin = begin;
        private long lastStep = begin;
        private double trainingSeconds;
        private long samples;
        private double epochLoss;
        private long epochSamples;

        Recorder(TrainingListener listener) {
            this.listener = listener;
        }

        void step(double loss, int count) {
            if (!Double.isFinite(loss)) {
                throw new TpException("the loss of step " + (losses.size() + 1) + " is " + loss
                        + "; HINT: use a smaller --learning-rate");
            }
            losses.add(loss);
            epochLoss += loss * count;
            epochSamples += count;
            lastStep = System.nanoTime();
            listener.step(loss);
        }

        void epoch(double accuracy) {
            double seconds = (lastStep - epochBegin) / 1e9;
            Epoch epoch = new Epoch(epochs.size() + 1, epochLoss / epochSamples, accuracy, epochSamples / seconds);
            epochs.add(epoch);
            listener.epoch(epoch);
            trainingSeconds += seconds;
            samples += epochSamples;
            epochLoss = 0;
            epochSamples = 0;
            epochBegin = System.nanoTime();
        }

        TrainingResult result() {
            return new TrainingResult(
                    List.copyOf(epochs),
                    List.copyOf(losses),
                    (System.nanoTime() - begin) / 1e9,
                    trainingSeconds,
                    samples);
        }
    }
}
