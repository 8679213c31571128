package org.tp4j.examples.mlp;

import org.tp4j.tensor.DType;

/**
 * Hyperparameters of a training.
 *
 * @param hidden hidden features of each block, the dimension that is sharded
 * @param epochs passes over the training images
 * @param batch images per step
 * @param learningRate peak learning rate
 * @param dropout probability of dropping a hidden value
 * @param seed of the initial weights, dropout and the order of the images
 * @param dtype of parameters and activations
 */
public record MlpSettings(
        int hidden, int epochs, int batch, double learningRate, double dropout, long seed, DType dtype) {
    /** Features of the residual stream. */
    public static final int WIDTH = 64;

    /** The default settings of {@code scripts/run-mlp.sh}. */
    public static MlpSettings defaults() {
        return new MlpSettings(256, 15, 64, 3e-3, 0.1, 42, DType.FLOAT32);
    }

    /** The same settings with another type. */
    public MlpSettings withDtype(DType other) {
        return new MlpSettings(hidden, epochs, batch, learningRate, dropout, seed, other);
    }

    /** The same settings with another number of epochs. */
    public MlpSettings withEpochs(int number) {
        return new MlpSettings(hidden, number, batch, learningRate, dropout, seed, dtype);
    }

    /** Number of steps of the whole training on that many images. */
    public long steps(int images) {
        return (long) epochs * ((images + batch - 1) / batch);
    }
}
