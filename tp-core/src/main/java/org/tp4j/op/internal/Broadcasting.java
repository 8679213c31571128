package org.tp4j.op.internal;

import org.tp4j.op.BackwardContext;
import org.tp4j.op.LabelRule;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** The backward side of broadcasting. */
final class Broadcasting {
    private Broadcasting() {}

    /** Sums a gradient over the dimensions along which operand {@code i} was stretched, in the type it is collected in. */
    static Tensor sumTo(BackwardContext c, Tensor gradient, int i) {
        Shape to = c.inputShape(i);
        Shape from = gradient.shape();
        if (from.equals(to)) {
            return gradient;
        }
        int extra = from.dims() - to.dims();
        Tensor result = gradient;
        if (extra > 0) {
            result = sum(c, result, c.gradientType(i), false, LabelRule.ascending(0, extra));
        }
        int stretched = 0;
        int[] dims = new int[to.dims()];
        for (int d = 0; d < to.dims(); d++) {
            if (to.size(d) == 1 && from.size(d + extra) != 1) {
                dims[stretched++] = d;
            }
        }
        int[] kept = java.util.Arrays.copyOf(dims, stretched);
        return stretched == 0 ? result : sum(c, result, c.gradientType(i), true, kept);
    }

    private static Tensor sum(BackwardContext c, Tensor x, DType result, boolean keepDims, int... dims) {
        return c.run(new SumOp(ReducedDims.of(x.shape(), keepDims, dims), result), x);
    }
}
