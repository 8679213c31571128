package org.tp4j.tensor;

/** The activations that MLPs are built with, as one choice. */
public enum Activation {
    /** max(x, 0). */
    RELU(UnaryFunction.RELU, BinaryFunction.RELU_GRAD),
    /** x · Φ(x), exact. */
    GELU(UnaryFunction.GELU, BinaryFunction.GELU_GRAD),
    /** The tanh approximation of GELU, as in GPT-2. */
    GELU_TANH(UnaryFunction.GELU_TANH, BinaryFunction.GELU_TANH_GRAD),
    /** x · sigmoid(x), also called swish. */
    SILU(UnaryFunction.SILU, BinaryFunction.SILU_GRAD);

    private final UnaryFunction forward;
    private final BinaryFunction gradient;

    Activation(UnaryFunction forward, BinaryFunction gradient) {
        this.forward = forward;
        this.gradient = gradient;
    }

    /** The kernel that computes it. */
    public UnaryFunction forward() {
        return forward;
    }

    /** The kernel that, given x and dy, computes dx. */
    public BinaryFunction gradient() {
        return gradient;
    }
}
