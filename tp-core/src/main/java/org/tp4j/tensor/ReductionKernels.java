package org.tp4j.tensor;

/** Reductions and row-wise kernels; see {@link Backend} for the contract. */
public interface ReductionKernels {
    /** What a reduction computes. */
    enum Kind {
        /** Sum; 0 of nothing. */
        SUM,
        /** Sum of squares; 0 of nothing. */
        SUM_SQUARES,
        /** Sum of magnitudes; 0 of nothing. */
        SUM_ABS,
        /** Largest; negative infinity (the type's least value for integers) of nothing; NaN if one is. */
        MAX,
        /** Smallest; infinity (the type's greatest value for integers) of nothing; NaN if one is. */
        MIN,
        /** Largest magnitude; 0 of nothing; NaN if one is. */
        MAX_ABS
    }

    /**
     * Reduces the dimensions marked true. {@code out} holds as many elements as the other dimensions, in their order;
     * its type is x's, or {@code FLOAT32} or {@code FLOAT64} for floats. Sums of floats are accumulated pairwise or in
     * at least 32 bits with an error bound no worse than pairwise summation.
     */
    void reduce(Kind kind, NdArray x, boolean[] reduced, NdArray out);

    /** Index of the largest element along the last dimension, the lowest among equals; out is {@code INT64}. */
    void argmax(NdArray x, NdArray out);

    /** out = softmax along the last dimension, or its logarithm; the row's maximum is subtracted first. */
    void softmax(NdArray x, boolean logarithm, NdArray out);

    /**
     * Gradient of {@link #softmax} given its result y: dx = y (dy - Σ y dy), or dx = dy - e^y Σ dy for the logarithm.
     */
    void softmaxGrad(NdArray y, NdArray dy, boolean logarithm, NdArray dx);
}
