package org.tp4j.nn;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * Layer norm: y = (x - mean(x)) / sqrt(var(x) + eps) · weight + bias over the last dimension (Ba et al., arXiv 1607.06450).
 *
 * <table>
 * <caption>Tensors</caption>
 * <tr><th>tensor</th><th>shape</th><th>on a mesh</th></tr>
 * <tr><td>X, Y</td><td>[..., size]</td><td>Invariant, or Shard of any dimension but the last ({@code SequenceParallel})</td></tr>
 * <tr><td>weight, initially 1; bias, initially 0</td><td>[size]</td><td>Invariant</td></tr>
 * </table>
 *
 * <p>No communication in the module. Where X is sharded, weight and bias are promoted Invariant → Replicate: their
 * gradients are terms of a sum over the axis, taken with all other such sums by the optimizer (or {@link Gradients}). Kept
 * for backward: X and two numbers per row. The variance is the biased one, computed from differences to the mean; relative
 * error a few units in the last place.
 */
public final class LayerNorm extends Layer {
    private final double eps;
    private final Parameter weight;
    private final @Nullable Parameter bias;

    /** With weight and bias. */
    public LayerNorm(long size, double eps) {
        this(size, eps, true);
    }

    /**
     * @param size size of a row
     * @param eps added to the variance
     * @param bias whether a bias is added
     */
    public LayerNorm(long size, double eps, boolean bias) {
        if (!(eps >= 0 && eps < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "eps of LayerNorm must be finite and at least 0, was " + eps + "; HINT: 1e-5 is usual");
        }
        this.eps = eps;
        this.weight = parameter(new Parameter("weight", Shape.of(size), Initializer.ones()));
        this.bias = bias ? parameter(new Parameter("bias", Shape.of(size), Initializer.zeros())) : null;
    }

    @Override
    protected String describe() {
        return weight.shape().size(0) + ", eps " + eps + (bias == null ? ", no bias" : "");
    }

    @Override
    protected Tensor forward(Tensor x) {
        return x.layerNorm(weight.tensor(), bias == null ? null : bias.tensor(), eps);
    }
}
