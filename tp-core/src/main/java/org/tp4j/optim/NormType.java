package org.tp4j.optim;

import org.tp4j.tensor.ReductionKernels;

/** A norm of all gradients as one vector. */
public enum NormType {
    /** Sum of absolute values. */
    L1(ReductionKernels.Kind.SUM_ABS, ReductionKernels.Kind.SUM),
    /** Root of the sum of squares. */
    L2(ReductionKernels.Kind.SUM_SQUARES, ReductionKernels.Kind.SUM),
    /** Largest absolute value. */
    INF(ReductionKernels.Kind.MAX_ABS, ReductionKernels.Kind.MAX);

    private final ReductionKernels.Kind ofElements;
    private final ReductionKernels.Kind ofParts;

    NormType(ReductionKernels.Kind ofElements, ReductionKernels.Kind ofParts) {
        this.ofElements = ofElements;
        this.ofParts = ofParts;
    }

    /**
     * The norm of exponent p.
     *
     * @param p 1, 2 or {@link Double#POSITIVE_INFINITY}
     */
    public static NormType of(double p) {
        if (p == 1) {
            return L1;
        }
        if (p == 2) {
            return L2;
        }
        if (p == Double.POSITIVE_INFINITY) {
            return INF;
        }
        throw new IllegalArgumentException("there is no gradient norm of exponent " + p + "; HINT: 1, 2 or infinity");
    }

    /** Reduces elements to one part of the norm. */
    ReductionKernels.Kind ofElements() {
        return ofElements;
    }

    /** Reduces parts to one. */
    ReductionKernels.Kind ofParts() {
        return ofParts;
    }

    /** The norm, given the reduction of all parts. */
    double finish(double whole) {
        return this == L2 ? Math.sqrt(whole) : whole;
    }
}
