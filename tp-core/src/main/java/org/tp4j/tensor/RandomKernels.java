package org.tp4j.tensor;

/**
 * Counter-based random numbers: Philox4x32-10 (Salmon et al., SC'11), so that element i of a tensor has one value
 * whatever rank computes it; see {@link Backend} for the contract.
 *
 * <p>Key = the 64-bit seed (low word first). Counter = (i / 4 as 64 bits, stream as 64 bits, low words first), lane = i
 * mod 4, with i the element's linear index in the <em>global</em> tensor ({@link Region}). A uniform is the upper 24 bits
 * of the lane times 2^-24, in [0, 1), for every float type (rounded to it). A normal is Box-Muller on the pair of lanes
 * (0, 1) or (2, 3): with u1 = ((lane_even &gt;&gt;&gt; 8) + 1) · 2^-24 in (0, 1] and u2 = (lane_odd &gt;&gt;&gt; 8) ·
 * 2^-24, r = sqrt(-2 ln u1), the even lane is r cos(2π u2), the odd lane r sin(2π u2), computed in 64 bits and rounded.
 */
public interface RandomKernels {
    /** out = low + (high - low) · uniform. */
    void uniform(NdArray out, long seed, long stream, Region region, double low, double high);

    /** out = mean + deviation · normal. */
    void normal(NdArray out, long seed, long stream, Region region, double mean, double deviation);

    /**
     * Inverted dropout: out = x / (1 - p) where the element's uniform is at least p, else 0. The same call on dy gives
     * the gradient. out may be x.
     */
    void dropout(NdArray x, double p, long seed, StepNumber stream, Region region, NdArray out);
}
