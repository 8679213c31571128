package org.tp4j.tensor;

/** Elementwise functions of one argument x and, for some, of two numbers a and b. */
public enum UnaryKernel {
    /** -x. */
    NEG,
    /** |x|. */
    ABS,
    /** e^x. */
    EXP,
    /** Natural logarithm. */
    LOG,
    /** Square root. */
    SQRT,
    /** 1 / sqrt(x). */
    RSQRT,
    /** x². */
    SQUARE,
    /** 1 / x. */
    RECIPROCAL,
    /** max(x, 0); NaN stays NaN. */
    RELU,
    /** x · Φ(x) with the error function (Hendrycks and Gimpel, arXiv 1606.08415). */
    GELU,
    /** 0.5 x (1 + tanh(√(2/π)(x + 0.044715 x³))), the approximation of the same paper. */
    GELU_TANH,
    /** x · sigmoid(x). */
    SILU,
    /** 1 / (1 + e^-x). */
    SIGMOID,
    /** Hyperbolic tangent. */
    TANH,
    /** a · x. */
    SCALE,
    /** x + a. */
    SHIFT,
    /** min(max(x, a), b); NaN stays NaN. */
    CLAMP,
    /** 1 where x is 0 (false), else 0; {@code BOOL} only. */
    NOT
}
