package org.tp4j.nn;

import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * RMS norm: y = x / sqrt(mean(x²) + eps) · weight over the last dimension (Zhang and Sennrich, arXiv 1910.07467).
 *
 * <table>
 * <caption>Tensors</caption>
 * <tr><th>tensor</th><th>shape</th><th>on a mesh</th></tr>
 * <tr><td>X, Y</td><td>[..., size]</td><td>Invariant, or Shard of any dimension but the last ({@code SequenceParallel})</td></tr>
 * <tr><td>weight, initially 1</td><td>[size]</td><td>Invariant</td></tr>
 * </table>
 *
 * <p>Communication and gradients as in {@link LayerNorm}. Kept for backward: X and one number per row.
 */
public final class RmsNorm extends Layer {
    private final double eps;
    private final Parameter weight;

    /**
     * @param size size of a row
     * @param eps added to the mean square
     */
    public RmsNorm(long size, double eps) {
        if (!(eps >= 0 && eps < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException(
                    "eps of RmsNorm must be finite and at least 0, was " + eps + "; HINT: 1e-5 is usual");
        }
        this.eps = eps;
        this.weight = parameter(new Parameter("weight", Shape.of(size), Initializer.ones()));
    }

    @Override
    protected String describe() {
        return weight.shape().size(0) + ", eps " + eps;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return x.rmsNorm(weight.tensor(), eps);
    }
}
