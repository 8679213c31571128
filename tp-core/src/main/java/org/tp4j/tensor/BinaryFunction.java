package org.tp4j.tensor;

import static org.tp4j.tensor.CudaExpressions.anything;
import static org.tp4j.tensor.CudaExpressions.bools;
import static org.tp4j.tensor.CudaExpressions.floats;
import static org.tp4j.tensor.CudaExpressions.numbers;

import org.tp4j.tensor.internal.math.ActivationFormulas;

/**
 * Elementwise functions of two arguments a and b of one type, which broadcast; comparisons and logic give {@link
 * DType#BOOL}. What there is to know about a function stands here, as in {@link UnaryFunction}.
 */
public enum BinaryFunction {
    /** a + b. */
    ADD(numbers("a + b", "add(a, b)"), BinaryGradient.SUM),
    /** a - b. */
    SUB(numbers("a - b", "subtract(a, b)"), BinaryGradient.DIFFERENCE),
    /** a · b. */
    MUL(numbers("a * b", "multiply(a, b)"), BinaryGradient.PRODUCT),
    /** a / b; of integers truncated. */
    DIV(numbers("a / b", "divide(a, b)"), BinaryGradient.QUOTIENT),
    /** The larger; NaN if either is. */
    MAXIMUM(numbers("maximum(a, b)", "larger(a, b)"), BinaryGradient.MAXIMUM),
    /** The smaller; NaN if either is. */
    MINIMUM(numbers("minimum(a, b)", "smaller(a, b)"), BinaryGradient.MINIMUM),
    /** a = b. */
    EQ(anything("a == b"), BinaryGradient.TRUTH),
    /** a ≠ b. */
    NE(anything("a != b"), BinaryGradient.TRUTH),
    /** a &lt; b. */
    LT(numbers("a < b", "a < b"), BinaryGradient.TRUTH),
    /** a ≤ b. */
    LE(numbers("a <= b", "a <= b"), BinaryGradient.TRUTH),
    /** a &gt; b. */
    GT(numbers("a > b", "a > b"), BinaryGradient.TRUTH),
    /** a ≥ b. */
    GE(numbers("a >= b", "a >= b"), BinaryGradient.TRUTH),
    /** Both true; {@code BOOL} only. */
    AND(bools("a != 0 && b != 0"), BinaryGradient.TRUTH),
    /** At least one true; {@code BOOL} only. */
    OR(bools("a != 0 || b != 0"), BinaryGradient.TRUTH),
    /** With a = x, b = dy: dy where x &gt; 0, else 0. */
    RELU_GRAD(numbers("a > 0 ? b : (C)0", "a > 0 ? b : (C)0"), BinaryGradient.SLOPE),
    /** With a = x, b = dy: derivative of {@link UnaryFunction#GELU} at x, times dy. */
    GELU_GRAD(floats("geluSlope(a) * b"), BinaryGradient.SLOPE),
    /** With a = x, b = dy: derivative of {@link UnaryFunction#GELU_TANH} at x, times dy. */
    GELU_TANH_GRAD(floats("geluTanhSlope(a) * b"), BinaryGradient.SLOPE),
    /** With a = x, b = dy: derivative of {@link UnaryFunction#SILU} at x, times dy. */
    SILU_GRAD(floats("siluSlope(a) * b"), BinaryGradient.SLOPE),
    /** With a = y = sigmoid(x), b = dy: y (1 - y) dy. */
    SIGMOID_GRAD(floats("a * (1 - a) * b"), BinaryGradient.SLOPE),
    /** With a = y = tanh(x), b = dy: (1 - y²) dy. */
    TANH_GRAD(floats("(1 - a * a) * b"), BinaryGradient.SLOPE);

    private final CudaExpressions cuda;
    private final BinaryGradient gradient;

    BinaryFunction(CudaExpressions cuda, BinaryGradient gradient) {
        this.cuda = cuda;
        this.gradient = gradient;
    }

    /** Whether it is defined for elements of a type. */
    public boolean isDefinedFor(DType type) {
        return cuda.of(type) != null;
    }

    /**
     * Its CUDA C++ expression in a and b.
     *
     * @throws IllegalArgumentException if it is not defined for elements of this type
     */
    public String cudaExpression(DType type) {
        return cuda.require(type, this);
    }

    /** Whether the result is {@link DType#BOOL} rather than the operands' type. */
    public boolean givesBool() {
        return gradient == BinaryGradient.TRUTH;
    }

    /** Whether it is linear in operand {@code i} while the other is fixed, for elements of this type. */
    public boolean isLinearIn(int i, DType type) {
        return gradient.isLinearIn(i, type);
    }

    /** Whether it is a signed sum of its operands, rather than a product. */
    public boolean isAdditive() {
        return gradient.isAdditive();
    }

    /** Whether it has a gradient. */
    public boolean isDifferentiable() {
        return gradient.isDifferentiable();
    }

    /** Whether the gradient is written in terms of operand {@code i}. */
    public boolean keepsInput(int i) {
        return gradient.keepsInput(i);
    }

    /** Whether the gradient is written in terms of the result. */
    public boolean keepsOutput() {
        return gradient.keepsOutput();
    }

    /** Sets the operands' gradients, given that of the result. */
    public void backward(Tensor g, ElementwiseBackward context) {
        gradient.backward(g, context);
    }

    /** f(a, b) in 64 bits; comparisons and logic give 1 or 0. */
    public double apply(double a, double b) {
        return switch (this) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> a / b;
            case MAXIMUM -> Math.max(a, b);
            case MINIMUM -> Math.min(a, b);
            case EQ -> a == b ? 1 : 0;
            case NE -> a != b ? 1 : 0;
            case LT -> a < b ? 1 : 0;
            case LE -> a <= b ? 1 : 0;
            case GT -> a > b ? 1 : 0;
            case GE -> a >= b ? 1 : 0;
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case RELU_GRAD -> a > 0 ? b : 0;
            case GELU_GRAD -> ActivationFormulas.geluSlope(a) * b;
            case GELU_TANH_GRAD -> ActivationFormulas.geluTanhSlope(a) * b;
            case SILU_GRAD -> ActivationFormulas.siluSlope(a) * b;
            case SIGMOID_GRAD -> a * (1 - a) * b;
            case TANH_GRAD -> (1 - a * a) * b;
        };
    }

    /**
     * f(a, b) of integers, which wrap around, and truth values.
     *
     * @throws TpException for a quotient by 0, or if it is defined for floats only
     */
    public long apply(long a, long b) {
        return switch (this) {
            case ADD -> a + b;
            case SUB -> a - b;
            case MUL -> a * b;
            case DIV -> {
                if (b == 0) {
                    throw new TpException("integer division of " + a + " by zero");
                }
                yield a / b;
            }
            case MAXIMUM -> Math.max(a, b);
            case MINIMUM -> Math.min(a, b);
            case EQ -> a == b ? 1 : 0;
            case NE -> a != b ? 1 : 0;
            case LT -> a < b ? 1 : 0;
            case LE -> a <= b ? 1 : 0;
            case GT -> a > b ? 1 : 0;
            case GE -> a >= b ? 1 : 0;
            case AND -> a != 0 && b != 0 ? 1 : 0;
            case OR -> a != 0 || b != 0 ? 1 : 0;
            case RELU_GRAD -> a > 0 ? b : 0;
            default -> throw new TpException(this + " of integers is not defined; HINT: cast to float32 first");
        };
    }
}
