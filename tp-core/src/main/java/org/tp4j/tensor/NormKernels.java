package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/**
 * Normalisation over the last dimension n of x [rows..., n]; see {@link Backend} for the contract. Statistics are
 * {@code FLOAT32}, or {@code FLOAT64} where x is. The variance is computed from differences to the mean.
 */
public interface NormKernels {
    /**
     * Layer norm (Ba et al., arXiv 1607.06450): out = (x - mean) · rstd · weight + bias, rstd = 1/sqrt(var + eps) with
     * the biased variance.
     *
     * @param weight [n], or null for 1
     * @param bias [n], or null for 0
     * @param mean result, [rows]
     * @param rstd result, [rows]
     */
    void layerNorm(
            NdArray x,
            @Nullable NdArray weight,
            @Nullable NdArray bias,
            double eps,
            NdArray out,
            NdArray mean,
            NdArray rstd);

    /** Gradients of {@link #layerNorm}; a null result is not computed. dWeight and dBias are [n], overwritten. */
    void layerNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray mean,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight,
            @Nullable NdArray dBias);

    /** RMS norm (Zhang and Sennrich, arXiv 1910.07467): out = x · rstd · weight, rstd = 1/sqrt(mean(x²) + eps). */
    void rmsNorm(NdArray x, @Nullable NdArray weight, double eps, NdArray out, NdArray rstd);

    /** Gradients of {@link #rmsNorm}; a null result is not computed. */
    void rmsNormGrad(
            NdArray x,
            @Nullable NdArray weight,
            NdArray rstd,
            NdArray dy,
            @Nullable NdArray dx,
            @Nullable NdArray dWeight);
}
