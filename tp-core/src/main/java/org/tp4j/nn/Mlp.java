package org.tp4j.nn;

import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Tensor;

/**
 * Y = activation(X W1ᵀ + b1) W2ᵀ + b2: the feed-forward block of a transformer. With {@code up_proj} column-parallel and
 * {@code down_proj} row-parallel it needs one all-reduce forward and one backward (Shoeybi et al., arXiv 1909.08053,
 * section 3).
 */
public final class Mlp extends Module {
    private final Linear up;
    private final Linear down;
    private final Activation activation;

    /**
     * @param dModel size of input and output rows
     * @param dFf size of the hidden rows
     * @param activation applied to the hidden rows
     * @param bias whether both products add a bias
     */
    public Mlp(long dModel, long dFf, Activation activation, boolean bias) {
        this.up = child("up_proj", new Linear(dModel, dFf, bias));
        this.down = child("down_proj", new Linear(dFf, dModel, bias));
        this.activation = activation;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return down.apply(up.applyActivated(x, activation));
    }
}
