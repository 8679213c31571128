package org.tp4j.nn;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Layer norm over the last dimension with weight (1 at first) and bias (0 at first); Ba et al., arXiv 1607.06450. */
public final class LayerNorm extends Module {
    private final double eps;
    private final Parameter weight;
    private final @Nullable Parameter bias;

    /** With weight and bias. */
    public LayerNorm(long size, double eps) {
        this(size, eps, true);
    }

    /**
     * @param size of a row
     * @param eps added to the variance
     * @param bias whether a bias is added
     */
    public LayerNorm(long size, double eps, boolean bias) {
        this.eps = eps;
        this.weight = parameter(new Parameter("weight", Shape.of(size), Initializer.ones()));
        this.bias = bias ? parameter(new Parameter("bias", Shape.of(size), Initializer.zeros())) : null;
    }

    @Override
    protected Tensor forward(Tensor x) {
        return x.layerNorm(weight.tensor(), bias == null ? null : bias.tensor(), eps);
    }
}
