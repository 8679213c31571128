package org.tp4j.tensor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an optimizer needs to change one parameter: this rank's parts, all of one shape, to be changed in place.
 *
 * @param parameter the values
 * @param master the values in 32 bits, of which {@code parameter} is the rounding; null unless that has 16 bits
 * @param gradient the gradient, complete
 * @param state one array for each name the optimizer keeps state under, zero before the first step
 * @param count the how-manieth step of this parameter it is, from 1
 * @param rate learning rate of this step and parameter, a fraction
 * @param weightDecay of this parameter
 */
public record ParameterUpdate(
        NdArray parameter,
        @Nullable NdArray master,
        NdArray gradient,
        List<NdArray> state,
        StepNumber count,
        StepNumber rate,
        double weightDecay) {
    /** The how-manieth step of this parameter it is now, from 1. */
    public long step() {
        return count.asLong();
    }

    /** The learning rate now. */
    public double learningRate() {
        return rate.asDouble();
    }
}
