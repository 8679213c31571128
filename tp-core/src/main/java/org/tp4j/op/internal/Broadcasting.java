package org.tp4j.op.internal;

import org.tp4j.op.LabelRule;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** The backward side of broadcasting. */
final class Broadcasting {
    private Broadcasting() {}

    /** Sums a gradient over the dimensions along which an operand of shape {@code to} was stretched. */
    static Tensor sumTo(Tensor gradient, Shape to) {
        Shape from = gradient.shape();
        if (from.equals(to)) {
            return gradient;
        }
        int extra = from.dims() - to.dims();
        Tensor result = gradient;
        if (extra > 0) {
            result = result.sum(false, LabelRule.ascending(0, extra));
        }
        int stretched = 0;
        int[] dims = new int[to.dims()];
        for (int d = 0; d < to.dims(); d++) {
            if (to.size(d) == 1 && from.size(d + extra) != 1) {
                dims[stretched++] = d;
            }
        }
        return stretched == 0 ? result : result.sum(true, java.util.Arrays.copyOf(dims, stretched));
    }
}
