package org.tp4j.tensor;

/** Elementwise kernels; see {@link Backend} for the contract. */
public interface ElementwiseKernels {
    /** out = function(x; a, b), in x's shape and type. */
    void unary(UnaryFunction function, NdArray x, NdArray out, double a, double b);

    /** out = function(a, b), where a and b (of one type) broadcast to out's shape. */
    void binary(BinaryFunction function, NdArray a, NdArray b, NdArray out);

    /** out = condition ? a : b; all three broadcast to out's shape; the condition is {@code BOOL}. */
    void where(NdArray condition, NdArray a, NdArray b, NdArray out);

    /** out = x in out's type. Floats to integers truncate towards zero and saturate; to {@code BOOL}: x ≠ 0. */
    void cast(NdArray x, NdArray out);

    /** Every element = value. */
    void fill(NdArray out, double value);

    /** y += alpha · x; same shape and type. */
    void addScaled(double alpha, NdArray x, NdArray y);

    /**
     * Copies elements of any type between two strided windows that do not overlap: for every index tuple i below
     * {@code sizes}, dst[dstOffset + Σ i·dstStrides] = src[srcOffset + Σ i·srcStrides]. Offsets and strides are in
     * elements, counted from the beginning of each array's window; a source stride may be 0. Elements of dst not
     * addressed keep their values.
     */
    void copy(
            NdArray src,
            long srcOffset,
            long[] srcStrides,
            NdArray dst,
            long dstOffset,
            long[] dstStrides,
            long[] sizes);

    /** out = activation(x + bias); x [rows..., n], bias [n]. */
    void biasActivation(Activation activation, NdArray x, NdArray bias, NdArray out);

    /** dx = activation'(x + bias) · dy. */
    void biasActivationGrad(Activation activation, NdArray x, NdArray bias, NdArray dy, NdArray dx);

    /** out = activation(gate) · up, all of one shape: the middle of a gated MLP (Shazeer, arXiv 2002.05202). */
    void gated(Activation activation, NdArray gate, NdArray up, NdArray out);

    /** dGate = activation'(gate) · up · dy and dUp = activation(gate) · dy. */
    void gatedGrad(Activation activation, NdArray gate, NdArray up, NdArray dy, NdArray dGate, NdArray dUp);
}
