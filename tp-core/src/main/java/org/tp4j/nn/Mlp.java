package org.tp4j.nn;

import java.util.Locale;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Tensor;

/**
 * Y = activation(X W1ᵀ + b1) W2ᵀ + b2: the feed-forward block of a transformer.
 *
 * <table>
 * <caption>Tensors, with {@code up_proj} by column and {@code down_proj} by row on p ranks</caption>
 * <tr><th>tensor</th><th>shape</th><th>on each rank</th><th>placement</th></tr>
 * <tr><td>X</td><td>[..., d]</td><td>[..., d]</td><td>Invariant, f makes it Replicate</td></tr>
 * <tr><td>up_proj.weight W1</td><td>[ff, d]</td><td>[ff/p, d]</td><td>Shard(0)</td></tr>
 * <tr><td>up_proj.bias b1</td><td>[ff]</td><td>[ff/p]</td><td>Shard(0)</td></tr>
 * <tr><td>H = activation(X W1ᵀ + b1)</td><td>[..., ff]</td><td>[..., ff/p]</td><td>Shard(-1)</td></tr>
 * <tr><td>down_proj.weight W2</td><td>[d, ff]</td><td>[d, ff/p]</td><td>Shard(1)</td></tr>
 * <tr><td>H W2ᵀ</td><td>[..., d]</td><td>[..., d]</td><td>Partial, g makes it Invariant</td></tr>
 * <tr><td>down_proj.bias b2</td><td>[d]</td><td>[d]</td><td>Invariant, added once, after g</td></tr>
 * </table>
 *
 * <p>Collectives for n rows: forward one all-reduce of n·d elements (g), backward one of n·d elements (f), which runs under
 * the product dW1; none in between (Shoeybi et al., arXiv 1909.08053, section 3). Kept for backward: X, X W1ᵀ and H. T
 * ranks differ from one by the order of a sum of p terms per element.
 */
public final class Mlp extends Layer {
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
    protected String describe() {
        return activation.name().toLowerCase(Locale.ROOT);
    }

    @Override
    protected Tensor forward(Tensor x) {
        return down.apply(up.applyActivated(x, activation));
    }
}
