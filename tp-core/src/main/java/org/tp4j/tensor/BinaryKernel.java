package org.tp4j.tensor;

/** Elementwise functions of two arguments, which broadcast. Comparisons give {@link DType#BOOL}. */
public enum BinaryKernel {
    /** a + b. */
    ADD(false),
    /** a - b. */
    SUB(false),
    /** a · b. */
    MUL(false),
    /** a / b. */
    DIV(false),
    /** The larger; NaN if either is. */
    MAXIMUM(false),
    /** The smaller; NaN if either is. */
    MINIMUM(false),
    /** a = b. */
    EQ(true),
    /** a ≠ b. */
    NE(true),
    /** a &lt; b. */
    LT(true),
    /** a ≤ b. */
    LE(true),
    /** a &gt; b. */
    GT(true),
    /** a ≥ b. */
    GE(true),
    /** Both true; {@code BOOL} only. */
    AND(true),
    /** At least one true; {@code BOOL} only. */
    OR(true),
    /** With a = x, b = dy: dy where x &gt; 0, else 0. */
    RELU_GRAD(false),
    /** With a = x, b = dy: derivative of {@link UnaryKernel#GELU} at x, times dy. */
    GELU_GRAD(false),
    /** With a = x, b = dy: derivative of {@link UnaryKernel#GELU_TANH} at x, times dy. */
    GELU_TANH_GRAD(false),
    /** With a = x, b = dy: derivative of {@link UnaryKernel#SILU} at x, times dy. */
    SILU_GRAD(false),
    /** With a = y = sigmoid(x), b = dy: y (1 - y) dy. */
    SIGMOID_GRAD(false),
    /** With a = y = tanh(x), b = dy: (1 - y²) dy. */
    TANH_GRAD(false);

    private final boolean givesBool;

    BinaryKernel(boolean givesBool) {
        this.givesBool = givesBool;
    }

    /** Whether the result is {@link DType#BOOL} rather than the operands' type. */
    public boolean givesBool() {
        return givesBool;
    }
}
