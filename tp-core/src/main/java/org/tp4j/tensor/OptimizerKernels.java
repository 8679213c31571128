package org.tp4j.tensor;

import java.util.List;

/**
 * Optimizer steps on many parameters at once, which share no memory: in place, elementwise; see {@link Backend} for the
 * contract. With the parameter w, its gradient g, learning rate lr, decay and step count t (from 1) as each {@link
 * ParameterUpdate} says. State is {@code FLOAT32}, or {@code FLOAT64} where the parameter is. A 16-bit parameter may come
 * with a {@code FLOAT32} master copy: the step is taken on the master and rounded into the parameter.
 */
public interface OptimizerKernels {
    /**
     * g' = gradScale·g + decay·w; v = momentum·v + g' (v = g' at the first step, where v is not read); w -= lr·(nesterov ?
     * g' + momentum·v : v). The state of each parameter is its v, or nothing: w -= lr·g'.
     */
    void sgd(List<ParameterUpdate> updates, double gradScale, double momentum, boolean nesterov);

    /**
     * Adam (Kingma and Ba, arXiv 1412.6980), or AdamW (Loshchilov and Hutter, arXiv 1711.05101) if {@code decoupled}. With
     * g' = gradScale·g: decoupled, w *= 1 - lr·decay first; else g' += decay·w. m = β1 m + (1-β1) g', v = β2 v + (1-β2)
     * g'², w -= lr · (m/(1-β1^t)) / (sqrt(v/(1-β2^t)) + eps). The state of each parameter is its m and its v.
     */
    void adam(
            List<ParameterUpdate> updates, double gradScale, double beta1, double beta2, double eps, boolean decoupled);
}
