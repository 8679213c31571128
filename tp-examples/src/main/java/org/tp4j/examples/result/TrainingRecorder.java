package org.tp4j.examples.result;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.examples.mlp.TrainingListener;
import org.tp4j.examples.result.TrainingResult.Epoch;
import org.tp4j.tensor.TpException;

/** Collects the result of a training while it runs. The clock starts when the recorder is made. */
public final class TrainingRecorder implements TrainingListener {
    private final ProgressListener progress;
    private final List<Epoch> epochs = new ArrayList<>();
    private final List<Double> losses = new ArrayList<>();
    private final long begin = System.nanoTime();
    private long epochBegin = begin;
    private long lastStep = begin;
    private double trainingSeconds;
    private long samples;
    private double epochLoss;
    private long epochSamples;

    /** Receives the progress of a training together with its metrics. */
    public interface ProgressListener {
        /** Called after each step. */
        void stepDone();

        /** Called after each epoch. */
        void epochDone(Epoch epoch);
    }

    /** Records without showing progress. */
    public TrainingRecorder() {
        this(new ProgressListener() {
            @Override
            public void stepDone() {}

            @Override
            public void epochDone(Epoch epoch) {}
        });
    }

    /** Records, and passes the progress on. */
    public TrainingRecorder(ProgressListener progress) {
        this.progress = progress;
    }

    /**
     * Records a step.
     *
     * @throws TpException if the loss is infinite or NaN
     */
    @Override
    public void step(double loss, int images) {
        if (!Double.isFinite(loss)) {
            throw new TpException("the loss of step " + (losses.size() + 1) + " is " + loss
                    + "; HINT: use a smaller --learning-rate");
        }
        losses.add(loss);
        epochLoss += loss * images;
        epochSamples += images;
        lastStep = System.nanoTime();
        progress.stepDone();
    }

    @Override
    public void epoch(double accuracy) {
        double seconds = (lastStep - epochBegin) / 1e9;
        Epoch epoch = new Epoch(epochs.size() + 1, epochLoss / epochSamples, accuracy, epochSamples / seconds);
        epochs.add(epoch);
        progress.epochDone(epoch);
        trainingSeconds += seconds;
        samples += epochSamples;
        epochLoss = 0;
        epochSamples = 0;
        epochBegin = System.nanoTime();
    }

    /** The result so far. */
    public TrainingResult result() {
        return new TrainingResult(
                List.copyOf(epochs), List.copyOf(losses), (System.nanoTime() - begin) / 1e9, trainingSeconds, samples);
    }
}
