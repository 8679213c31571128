package org.tp4j.nn;

import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** RMS norm over the last dimension with a weight, 1 at first; Zhang and Sennrich, arXiv 1910.07467. */
public final class RmsNorm extends Module {
    private final double eps;
    private final Parameter weight;

    /**
     * @param size of a row
     * @param eps added to the mean square
     */
    public RmsNorm(long size, double eps) {
        this.eps = eps;
        this.weight = parameter(new Parameter("weight", Shape.of(size), Initializer.ones()));
    }

    @Override
    protected Tensor forward(Tensor x) {
        return x.rmsNorm(weight.tensor(), eps);
    }
}
