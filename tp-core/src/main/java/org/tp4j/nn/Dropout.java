package org.tp4j.nn;

import org.tp4j.tensor.Tensor;

/**
 * Inverted dropout (Srivastava et al., JMLR 15, 2014): y = x · mask / (1 - p) in training, y = x otherwise.
 *
 * <p>Which elements are dropped depends on the seed, the module's path, the {@linkplain Module#beginStep step}, how often
 * the module was called in it, and the element's index in the whole tensor: never on the number of ranks, nor on what other
 * modules draw. So ranks that hold copies drop the same elements, ranks that hold pieces drop different ones, and data
 * parallel replicas, which hold different rows of the batch, too. Backward draws the mask again; nothing is kept for it.
 */
public final class Dropout extends Layer {
    private final double p;

    /** @param p probability of dropping, 0 &le; p &lt; 1 */
    public Dropout(double p) {
        if (!(p >= 0 && p < 1)) {
            throw new IllegalArgumentException("dropout probability must be at least 0 and below 1, was " + p);
        }
        this.p = p;
    }

    @Override
    protected String describe() {
        return "p " + p;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return isTraining() && p > 0 ? x.dropout(p, seed(), nextStream()) : x;
    }
}
