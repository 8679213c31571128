package org.tp4j.examples.mlp;

import org.tp4j.tensor.DType;

/**
 * What is trained, and how.
 *
 * @param hidden size of a block's hidden rows, the dimension that is split
 * @param epochs passes over the training images
 * @param batch images a step
 * @param learningRate at its peak
 * @param dropout probability with which a hidden value is dropped
 * @param seed of initial weights, dropout and the order of images
 * @param dtype of parameters and activations
 */
record MlpSettings(int hidden, int epochs, int batch, double learningRate, double dropout, long seed, DType dtype) {
    static final int WIDTH = 64; // of the residual stream

    /** What the command trains when it is given no options. */
    static MlpSettings defaults() {
        return new MlpSettings(256, 15, 64, 3e-3, 0.1, 42, DType.FLOAT32);
    }

    /** The same in another type. */
    MlpSettings withDtype(DType other) {
        return new MlpSettings(hidden, epochs, batch, learningRate, dropout, seed, other);
    }

    /** The type's name on the command line. */
    String dtypeName() {
        return dtype == DType.FLOAT32 ? "fp32" : "bf16";
    }

    /** Steps of the whole training. */
    long steps(int images) {
        return (long) epochs * ((images + batch - 1) / batch);
    }

    /** The same with another number of epochs. */
    MlpSettings withEpochs(int number) {
        return new MlpSettings(hidden, number, batch, learningRate, dropout, seed, dtype);
    }
}
