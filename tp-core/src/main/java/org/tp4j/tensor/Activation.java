package org.tp4j.tensor;

/** The activations that MLPs are built with, as one choice. */
public enum Activation {
    /** max(x, 0). */
    RELU(UnaryKernel.RELU, BinaryKernel.RELU_GRAD),
    /** x · Φ(x), exact. */
    GELU(UnaryKernel.GELU, BinaryKernel.GELU_GRAD),
    /** The tanh approximation of GELU, as in GPT-2. */
    GELU_TANH(UnaryKernel.GELU_TANH, BinaryKernel.GELU_TANH_GRAD),
    /** x · sigmoid(x), also called swish. */
    SILU(UnaryKernel.SILU, BinaryKernel.SILU_GRAD);

    private final UnaryKernel forward;
    private final BinaryKernel gradient;

    Activation(UnaryKernel forward, BinaryKernel gradient) {
        this.forward = forward;
        this.gradient = gradient;
    }

    /** The kernel that computes it. */
    public UnaryKernel forward() {
        return forward;
    }

    /** The kernel that, given x and dy, computes dx. */
    public BinaryKernel gradient() {
        return gradient;
    }
}
