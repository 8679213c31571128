package org.tp4j.nn;

import org.tp4j.tensor.Tensor;

/**
 * Inverted dropout in training, nothing otherwise. Which elements are dropped depends on the seed, the module's path, the
 * step and the element's place in the whole tensor, never on the number of ranks.
 */
public final class Dropout extends Module {
    private final double p;

    /** @param p probability of dropping, 0 &le; p &lt; 1 */
    public Dropout(double p) {
        if (!(p >= 0 && p < 1)) {
            throw new IllegalArgumentException("dropout probability must be at least 0 and below 1, was " + p);
        }
        this.p = p;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return isTraining() && p > 0 ? x.dropout(p, seed(), nextStream()) : x;
    }
}
