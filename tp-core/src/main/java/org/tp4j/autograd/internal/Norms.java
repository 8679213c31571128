package org.tp4j.autograd.internal;

import org.tp4j.op.internal.ReducedDims;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;

/** Vector norms, composed of operations. */
final class Norms {
    private Norms() {}

    /** (Σ |x|ᵖ)^(1/p), rounded to x's type once, with gradient 0 where it is 0. */
    static Tensor norm(Tensor x, double p, ReducedDims reduced) {
        if (!(p >= 1)) {
            throw new IllegalArgumentException("a norm of order " + p + "; HINT: at least 1, or infinity");
        }
        if (!x.dtype().isFloating()) {
            throw new IllegalArgumentException(
                    "norm of a tensor of type " + x.dtype() + "; HINT: cast it to a float type first");
        }
        int[] dims = reduced.dims().stream().mapToInt(Integer::intValue).toArray();
        Layouts.requireUncut(x, "norm", dims);
        DType wide = x.dtype().accumulator();
        if (wide != x.dtype()) {
            return norm(x.cast(wide), p, reduced).cast(x.dtype());
        }
        boolean keep = reduced.keepDims();
        if (dims.length == 0 || p == 1) {
            return dims.length == 0 ? x.abs() : x.abs().sum(keep, dims);
        }
        if (Double.isInfinite(p)) {
            return x.abs().max(keep, dims);
        }
        Tensor sum = (p == 2 ? x.square() : x.abs().pow(p)).sum(keep, dims);
        Tensor none = sum.eq(EagerTensor.number(sum, 0)).cast(wide);
        Tensor safe = sum.add(none); // 1 where the norm is 0, so that the root has a slope
        return (p == 2 ? safe.sqrt() : safe.pow(1 / p)).sub(none);
    }
}
