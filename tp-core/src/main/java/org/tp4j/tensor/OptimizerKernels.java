package org.tp4j.tensor;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Optimizer steps, in place, elementwise; see {@link Backend} for the contract. State is {@code FLOAT32}, or {@code
 * FLOAT64} where the parameter is. A 16-bit parameter may come with a {@code FLOAT32} {@code master} copy: the step is
 * taken on the master and rounded into the parameter.
 */
public interface OptimizerKernels {
    /**
     * g' = gradScale·g + decay·w; v = momentum·v + g' (v = g' at the first step); w -= lr·(nesterov ? g' + momentum·v :
     * v). Without momentum (null) w -= lr·g'.
     */
    void sgd(
            NdArray parameter,
            @Nullable NdArray master,
            NdArray gradient,
            @Nullable NdArray momentumBuffer,
            boolean first,
            double gradScale,
            double learningRate,
            double momentum,
            double weightDecay,
            boolean nesterov);

    /**
     * Adam (Kingma and Ba, arXiv 1412.6980), or AdamW (Loshchilov and Hutter, arXiv 1711.05101) if {@code decoupled}.
     * With g = gradScale·gradient: decoupled, w *= 1 - lr·decay first; else g += decay·w. m = β1 m + (1-β1) g, v = β2 v +
     * (1-β2) g², w -= lr · (m/(1-β1^step)) / (sqrt(v/(1-β2^step)) + eps).
     *
     * @param step counted from 1
     */
    void adam(
            NdArray parameter,
            @Nullable NdArray master,
            NdArray gradient,
            NdArray m,
            NdArray v,
            long step,
            double gradScale,
            double learningRate,
            double beta1,
            double beta2,
            double eps,
            double weightDecay,
            boolean decoupled);

    /**
     * {@link #sgd(NdArray, NdArray, NdArray, NdArray, boolean, double, double, double, double, boolean) sgd} for many
     * parameters, which share no memory. The state of each is its momentum buffer, or nothing.
     */
    default void sgd(List<ParameterUpdate> updates, double gradScale, double momentum, boolean nesterov) {
        for (ParameterUpdate u : updates) {
            sgd(
                    u.parameter(),
                    u.master(),
                    u.gradient(),
                    u.state().isEmpty() ? null : u.state().get(0),
                    u.step() == 1,
                    gradScale,
                    u.learningRate(),
                    momentum,
                    u.weightDecay(),
                    nesterov);
        }
    }

    /**
     * {@link #adam(NdArray, NdArray, NdArray, NdArray, NdArray, long, double, double, double, double, double, double,
     * boolean) adam} for many parameters, which share no memory. The state of each is its m and its v.
     */
    default void adam(
            List<ParameterUpdate> updates,
            double gradScale,
            double beta1,
            double beta2,
            double eps,
            boolean decoupled) {
        for (ParameterUpdate u : updates) {
            adam(
                    u.parameter(),
                    u.master(),
                    u.gradient(),
                    u.state().get(0),
                    u.state().get(1),
                    u.step(),
                    gradScale,
                    u.learningRate(),
                    beta1,
                    beta2,
                    eps,
                    u.weightDecay(),
                    decoupled);
        }
    }
}
