package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/**
 * A multi-dimensional array that can carry a gradient: the type users write models with. Values, shapes and operations
 * are those of the <em>whole</em> tensor; whether it lies in one memory or is spread over a mesh (a {@code DTensor})
 * makes no difference to the code.
 *
 * <pre>{@code
 * Tensor h = x.linear(w1, b1).gelu();
 * Tensor loss = h.linear(w2, b2).crossEntropy(labels);
 * loss.backward();
 * }</pre>
 *
 * <p>Tensors are row-major and contiguous. Operations never change their operands; methods whose names end in an
 * underscore do. Elementwise operations of two tensors broadcast: shapes are aligned at the last dimension and a size of
 * 1 stretches. Dimensions may be given as negative numbers, counted from the last. A dimension out of range, types or
 * shapes that do not fit give an {@link IllegalArgumentException}; layouts on a mesh that do not fit a {@code
 * LayoutException}.
 */
public interface Tensor extends HasStorage {
    // ---- what it is

    /** Sizes of the whole tensor. */
    Shape shape();

    /** Type of the elements. */
    DType dtype();

    /** The backend that holds and computes it. */
    Backend backend();

    /** This rank's elements: all of them for a tensor that is on no mesh. Waits for them if they are being received. */
    NdArray local();

    @Override
    default Storage storage() {
        return local().storage();
    }

    /** Size of one dimension. */
    default long size(int dim) {
        return shape().size(dim);
    }

    // ---- gradients

    /** Whether a backward pass computes a gradient for it. */
    boolean requiresGrad();

    /**
     * Sets whether a backward pass computes a gradient for this leaf; returns this.
     *
     * @throws IllegalStateException if it is the result of an operation, or not of a floating type
     */
    Tensor requiresGrad(boolean wanted);

    /** The gradient accumulated so far, null if there is none. */
    @Nullable Tensor grad();

    /**
     * Replaces the gradient by a copy of another, or discards it; for gradients that were computed or changed outside of
     * backward passes.
     *
     * @param gradient of this tensor's shape: on no mesh (whole, the same on every rank), or on this tensor's mesh; null for
     *     none
     * @throws IllegalStateException if this is not a leaf that requires a gradient
     * @throws IllegalArgumentException if the shape differs
     */
    void setGrad(@Nullable Tensor gradient);

    /** Discards the gradient and frees its memory; what {@link #grad()} returned before must not be used any more. */
    void clearGrad();

    /** The same values without the history that computed them; shares memory. */
    Tensor detach();

    /**
     * Computes the gradients of this scalar with respect to every leaf that requires one and adds them up there; frees
     * what was kept for it.
     *
     * @throws IllegalStateException if this is no scalar, nothing in it requires a gradient, or backward has run through
     *     it before
     */
    void backward();

    /**
     * As {@link #backward()} for a tensor of any shape, given its gradient.
     *
     * @param gradient same shape as this
     */
    void backward(Tensor gradient);

    // ---- to Java

    /**
     * The only element of a tensor of one element.
     *
     * @throws IllegalStateException if it has more, or holds a pending sum
     */
    double item();

    /** All elements, row-major, as floats; refused as {@link #toDoubles()}. */
    float[] toFloats();

    /**
     * All elements, row-major, as doubles. On a mesh the value must be whole on every rank: of a tensor that is sharded or
     * pending, {@code fullTensor()} gives the whole and {@link #local()} this rank's part.
     */
    double[] toDoubles();

    /** All elements, row-major, as integers; refused as {@link #toDoubles()}. */
    long[] toLongs();

    // ---- arithmetic

    /** Elementwise sum. */
    Tensor add(Tensor other);

    /** Elementwise difference. */
    Tensor sub(Tensor other);

    /** Elementwise product. */
    Tensor mul(Tensor other);

    /** Elementwise quotient. */
    Tensor div(Tensor other);

    /** Adds a number. */
    Tensor add(double number);

    /** Subtracts a number. */
    Tensor sub(double number);

    /** Multiplies by a number. */
    Tensor mul(double number);

    /** Divides by a number. */
    Tensor div(double number);

    /** The negative. */
    Tensor neg();

    /** The larger of two, elementwise. At a tie each gets half of the gradient. */
    Tensor maximum(Tensor other);

    /** The smaller of two, elementwise. At a tie each gets half of the gradient. */
    Tensor minimum(Tensor other);

    // ---- products

    /** Matrix product of the last two dimensions, batched over the others, which broadcast. */
    Tensor matmul(Tensor other);

    /** As {@link #matmul(Tensor)} with either operand's last two dimensions swapped, without a copy. */
    Tensor matmul(Tensor other, boolean transposeThis, boolean transposeOther);

    /**
     * x · weightᵀ + bias, the linear layer.
     *
     * @param weight [out, in] as PyTorch and Hugging Face store it
     * @param bias [out], or null
     * @return [..., out] for this [..., in]
     */
    Tensor linear(Tensor weight, @Nullable Tensor bias);

    // ---- functions

    /** e^x. */
    Tensor exp();

    /** Natural logarithm. */
    Tensor log();

    /** Square root. */
    Tensor sqrt();

    /** x². */
    Tensor square();

    /** 1 / sqrt of each element. */
    Tensor rsqrt();

    /** 1 / each element. */
    Tensor reciprocal();

    /** Each element to a power; NaN for a negative element unless the exponent is whole. */
    Tensor pow(double exponent);

    /** Magnitude. */
    Tensor abs();

    /** max(x, 0). */
    Tensor relu();

    /** GELU with the error function. */
    Tensor gelu();

    /** The tanh approximation of GELU. */
    Tensor geluTanh();

    /** x · sigmoid(x). */
    Tensor silu();

    /** 1 / (1 + e^-x). */
    Tensor sigmoid();

    /** Hyperbolic tangent. */
    Tensor tanh();

    /** Limits to [low, high]; the gradient is 0 outside. */
    Tensor clamp(double low, double high);

    /** activation(this + bias) in one pass; bias [n] for this [..., n]. */
    Tensor biasActivation(Tensor bias, Activation activation);

    /** activation(this) · up in one pass, the middle of a gated MLP. */
    Tensor gated(Tensor up, Activation activation);

    /**
     * Inverted dropout with an explicit stream of random numbers: element i of the whole tensor is dropped or not
     * whatever the layout.
     *
     * @param p probability of dropping, 0 &le; p &lt; 1
     */
    default Tensor dropout(double p, long seed, long stream) {
        return dropout(p, seed, StepNumber.of(stream));
    }

    /** As {@link #dropout(double, long, long)} with a stream that may change from step to step. */
    Tensor dropout(double p, long seed, StepNumber stream);

    // ---- reductions

    /** Sum of all elements, a scalar. */
    Tensor sum();

    /** Sum over some dimensions, which disappear or, if {@code keepDims}, stay with size 1. */
    Tensor sum(boolean keepDims, int... dims);

    /** Mean of all elements. */
    Tensor mean();

    /** Sum over some dimensions, which the result lacks. */
    default Tensor sum(int... dims) {
        return sum(false, dims);
    }

    /** Mean over some dimensions, which the result lacks. */
    default Tensor mean(int... dims) {
        return mean(false, dims);
    }

    /**
     * Norm (Σ |x|ᵖ)^(1/p) over some dimensions, all if none is named; largest magnitude for p = infinity. Its gradient is 0
     * where the norm is. 16-bit numbers are computed in 32 bits. The dimensions must not be sharded.
     *
     * @param p at least 1, or infinity
     */
    Tensor norm(double p, boolean keepDims, int... dims);

    /** Mean over some dimensions. */
    Tensor mean(boolean keepDims, int... dims);

    /**
     * Variance over some dimensions.
     *
     * @param unbiased whether to divide by n - 1 instead of n
     */
    Tensor variance(boolean unbiased, boolean keepDims, int... dims);

    /** Largest over some dimensions; equal elements share the gradient. No dims: over all. */
    Tensor max(boolean keepDims, int... dims);

    /** Smallest over some dimensions; equal elements share the gradient. No dims: over all. */
    Tensor min(boolean keepDims, int... dims);

    /** INT64 index of the largest along one dimension, which disappears; the lowest among equals. */
    Tensor argmax(int dim);

    /** Softmax along one dimension. */
    Tensor softmax(int dim);

    /** Logarithm of the softmax along one dimension. */
    Tensor logSoftmax(int dim);

    // ---- shape

    /** The same elements in another shape; one size may be -1. */
    Tensor reshape(long... sizes);

    /** Swaps two dimensions. */
    Tensor transpose(int dim0, int dim1);

    /** Without a dimension, whose size is 1. */
    Tensor squeeze(int dim);

    /** With a dimension of size 1 before dimension {@code dim}, which may be one past the last. */
    Tensor unsqueeze(int dim);

    /** Dimensions {@code from} to {@code to}, inclusive, as one. */
    Tensor flatten(int from, int to);

    /** Reorders the dimensions: dimension i of the result is dimension order[i] of this. */
    Tensor permute(int... order);

    /** Elements from (inclusive) to (exclusive) along one dimension. */
    Tensor slice(int dim, long from, long to);

    /** Splits along one dimension into pieces of the given sizes, which add up to its size. */
    Tensor[] split(int dim, long... sizes);

    /** Stretches dimensions of size 1 (and adds leading ones) to the given shape. */
    Tensor expand(long... sizes);

    /** Adds {@code before} and {@code after} elements of {@code value} along one dimension. */
    Tensor pad(int dim, long before, long after, double value);

    // ---- choice

    /** this where the condition is true, else other; broadcasts. */
    Tensor where(Tensor condition, Tensor other);

    /** {@code value} where the mask is true, else this; the mask broadcasts to this. */
    Tensor maskedFill(Tensor mask, double value);

    /** Rows of this [rows, n] by ids [...]: the result is [..., n]. Repeated ids add up in the gradient. */
    Tensor gatherRows(Tensor ids);

    /** As {@link #gatherRows(Tensor)}, where one row gets no gradient. */
    Tensor gatherRows(Tensor ids, long paddingId);

    /** Elementwise comparison for equality. */
    Tensor eq(Tensor other);

    /** Elementwise this &lt; other. */
    Tensor lt(Tensor other);

    /** Elementwise this &le; other. */
    Tensor le(Tensor other);

    /** Elementwise this &gt; other. */
    Tensor gt(Tensor other);

    /** Elementwise this &ge; other. */
    Tensor ge(Tensor other);

    /** Elementwise comparison for inequality. */
    Tensor ne(Tensor other);

    /** True where this {@code BOOL} tensor is false. */
    Tensor not();

    /** Elements converted to another type; the gradient is converted back. */
    Tensor cast(DType to);

    // ---- networks

    /** Layer norm over the last dimension. */
    Tensor layerNorm(@Nullable Tensor weight, @Nullable Tensor bias, double eps);

    /** RMS norm over the last dimension. */
    Tensor rmsNorm(@Nullable Tensor weight, double eps);

    /** Cross entropy of logits [..., classes] with labels [...]: mean over the labels that are not ignored. */
    Tensor crossEntropy(Tensor labels);

    /** As {@link #crossEntropy(Tensor)} with options. */
    Tensor crossEntropy(Tensor labels, CrossEntropyOptions options);
}
