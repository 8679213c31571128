package org.tp4j.nn;

import java.util.Locale;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Tensor;

/**
 * Y = (activation(X Wgᵀ) · X Wuᵀ) Wdᵀ: the gated feed-forward block, SwiGLU with {@link Activation#SILU} (Shazeer, arXiv
 * 2002.05202).
 *
 * <table>
 * <caption>Tensors, with {@code gate_proj} and {@code up_proj} by column and {@code down_proj} by row on p ranks</caption>
 * <tr><th>tensor</th><th>shape</th><th>on each rank</th><th>placement</th></tr>
 * <tr><td>X</td><td>[..., d]</td><td>[..., d]</td><td>Invariant, one f makes it Replicate for both</td></tr>
 * <tr><td>gate_proj.weight, up_proj.weight</td><td>[ff, d]</td><td>[ff/p, d]</td><td>Shard(0)</td></tr>
 * <tr><td>H</td><td>[..., ff]</td><td>[..., ff/p]</td><td>Shard(-1)</td></tr>
 * <tr><td>down_proj.weight</td><td>[d, ff]</td><td>[d, ff/p]</td><td>Shard(1)</td></tr>
 * <tr><td>Y</td><td>[..., d]</td><td>[..., d]</td><td>Partial, g makes it Invariant</td></tr>
 * </table>
 *
 * <p>Gate and up must be cut alike, since each rank multiplies the same channels of both; other cuts are refused. X is
 * redistributed once for both, so their two gradients are added before the one all-reduce in backward. Collectives as in
 * {@link Mlp}. Kept for backward: X, both products and H.
 */
public final class GatedMlp extends Layer {
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
    protected String describe() {
        return activation.name().toLowerCase(Locale.ROOT);
    }

    @Override
    protected Tensor forward(Tensor x) {
        return down.apply(gate.apply(x).gated(up.apply(x), activation));
    }
}
