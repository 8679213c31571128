package org.tp4j.nn;

import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Tensor;

/**
 * Y = (activation(X Wgᵀ) · X Wuᵀ) Wdᵀ: the gated feed-forward block, SwiGLU with {@link Activation#SILU} (Shazeer, arXiv
 * 2002.05202). Gate and up must be cut alike: each rank multiplies the same channels of both.
 */
public final class GatedMlp extends Module {
    private final Linear gate;
    private final Linear up;
    private final Linear down;
    private final Activation activation;

    /**
     * @param dModel size of input and output rows
     * @param dFf size of the hidden rows
     * @param activation applied to the gate
     * @param bias whether the products add a bias
     */
    public GatedMlp(long dModel, long dFf, Activation activation, boolean bias) {
        this.gate = child("gate_proj", new Linear(dModel, dFf, bias));
        this.up = child("up_proj", new Linear(dModel, dFf, bias));
        this.down = child("down_proj", new Linear(dFf, dModel, bias));
        this.activation = activation;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return down.apply(gate.apply(x).gated(up.apply(x), activation));
    }
}
