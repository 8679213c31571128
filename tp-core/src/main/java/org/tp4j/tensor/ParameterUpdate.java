package org.tp4j.tensor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an optimizer kernel needs to update one parameter: this rank's parts, all of one shape, updated in place.
 *
 * @param parameter the values
 * @param master the values in 32 bits, of which {@code parameter} is the rounding; null unless that has 16 bits
 * @param gradient the gradient, complete
 * @param state one array for each kind of optimizer state, zero before the first step
 * @param count the 1-based step number of this parameter
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
    /** The 1-based number of this parameter's current step. */
    public long step() {
        return count.asLong();
    }

    /** The learning rate of the current step. */
    public double learningRate() {
        return rate.asDouble();
    }
}
