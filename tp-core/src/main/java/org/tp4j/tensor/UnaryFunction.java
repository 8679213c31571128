package org.tp4j.tensor;

import static org.tp4j.tensor.CudaExpressions.bools;
import static org.tp4j.tensor.CudaExpressions.floats;
import static org.tp4j.tensor.CudaExpressions.numbers;
import static org.tp4j.tensor.UnaryDerivative.ofInput;
import static org.tp4j.tensor.UnaryDerivative.ofLinear;
import static org.tp4j.tensor.UnaryDerivative.ofOutput;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.internal.math.ActivationFormulas;

/**
 * Elementwise functions y of one argument x and, for some, of two numbers a and b. What there is to know about a function
 * stands here: a constant gives the types it is defined for with its CUDA C++ expression for each, and its derivative, from
 * which follow linearity and what is kept for the backward pass; {@link #apply(double, double, double)} and {@link
 * #apply(long, double, double)} define its values. Backends take the rest from here; faster formulas are theirs.
 */
public enum UnaryFunction {
    /** -x. */
    NEG(numbers("-x", "subtract(0, x)"), ofLinear((g, c) -> g.neg())),
    /** |x|. */
    ABS(numbers("magnitude(x)", "x < 0 ? subtract(0, x) : x"), ofInput((g, x, c) -> g.mul(sign(x, g, c)))),
    /** e^x. */
    EXP(floats("exponential(x)"), ofOutput((g, y, c) -> g.mul(y))),
    /** Natural logarithm. */
    LOG(floats("logarithm(x)"), ofInput((g, x, c) -> g.div(x))),
    /** Square root. */
    SQRT(floats("squareRoot(x)"), ofOutput((g, y, c) -> g.div(y.mul(2)))),
    /** 1 / sqrt(x). */
    RSQRT(
            floats("inverseRoot(x)"),
            ofOutput((g, y, c) -> g.mul(y.mul(y.square()).mul(-0.5)))),
    /** x². */
    SQUARE(numbers("x * x", "multiply(x, x)"), ofInput((g, x, c) -> g.mul(x.mul(2)))),
    /** 1 / x. */
    RECIPROCAL(floats("1 / x"), ofOutput((g, y, c) -> g.mul(y.square().neg()))),
    /** x to the power of a; NaN for negative x unless a is whole, as C's {@code pow}. */
    POW(
            floats("power(x, a)"),
            ofInput((g, x, c) -> c.a() == 0 ? g.mul(0) : g.mul(x.pow(c.a() - 1).mul(c.a())))),
    /** max(x, 0); NaN stays NaN. */
    RELU(numbers("relu(x)", "larger(x, 0)"), ofInput((g, x, c) -> c.apply(BinaryFunction.RELU_GRAD, x, g))),
    /** x · Φ(x) with the error function (Hendrycks and Gimpel, arXiv 1606.08415). */
    GELU(floats("gelu(x)"), ofInput((g, x, c) -> c.apply(BinaryFunction.GELU_GRAD, x, g))),
    /** 0.5 x (1 + tanh(√(2/π)(x + 0.044715 x³))), the approximation of the same paper. */
    GELU_TANH(floats("geluTanh(x)"), ofInput((g, x, c) -> c.apply(BinaryFunction.GELU_TANH_GRAD, x, g))),
    /** x · sigmoid(x). */
    SILU(floats("silu(x)"), ofInput((g, x, c) -> c.apply(BinaryFunction.SILU_GRAD, x, g))),
    /** 1 / (1 + e^-x). */
    SIGMOID(floats("sigmoid(x)"), ofOutput((g, y, c) -> c.apply(BinaryFunction.SIGMOID_GRAD, y, g))),
    /** Hyperbolic tangent. */
    TANH(floats("hyperbolicTangent(x)"), ofOutput((g, y, c) -> c.apply(BinaryFunction.TANH_GRAD, y, g))),
    /** a · x. */
    SCALE(
            numbers("a * x", "k.exact ? multiply(x, k.wholeA) : saturatedLong(k.a * (double)x)"),
            ofLinear((g, c) -> g.mul(c.a()))),
    /** x + a. */
    SHIFT(numbers("x + a", "k.exact ? add(x, k.wholeA) : saturatedLong((double)x + k.a)"), ofLinear((g, c) -> g)),
    /** min(max(x, a), b); NaN stays NaN. */
    CLAMP(
            numbers("minimum(maximum(x, a), b)", "smaller(larger(x, k.wholeA), k.wholeB)"),
            ofInput((g, x, c) -> g.mul(inside(x, g, c)))),
    /** 1 where x is 0 (false), else 0; {@code BOOL} only. */
    NOT(bools("x == 0 ? (C)1 : (C)0"), null);

    private final CudaExpressions cuda;
    private final @Nullable UnaryDerivative derivative;

    UnaryFunction(CudaExpressions cuda, @Nullable UnaryDerivative derivative) {
        this.cuda = cuda;
        this.derivative = derivative;
    }

    /** Whether it is defined for elements of a type. */
    public boolean isDefinedFor(DType type) {
        return cuda.of(type) != null;
    }

    /**
     * Its CUDA C++ expression in x, and in a and b for floats, {@code k.exact}, {@code k.wholeA} and {@code k.wholeB} for
     * integers; it may use what {@code functions.cuh} and {@code arithmetic.cuh} define.
     *
     * @throws IllegalArgumentException if it is not defined for elements of this type
     */
    public String cudaExpression(DType type) {
        return cuda.require(type, this);
    }

    /**
     * Whether a sum of results is the result of the sum, for elements of this type; {@link #SHIFT} adds its number once.
     */
    public boolean isLinear(DType type) {
        return derivative != null && derivative.isLinear(type);
    }

    /** Whether it has a derivative. */
    public boolean isDifferentiable() {
        return derivative != null;
    }

    /** Whether the derivative is written in terms of x. */
    public boolean keepsInput() {
        return derivative != null && derivative.keepsInput();
    }

    /** Whether the derivative is written in terms of the result. */
    public boolean keepsOutput() {
        return derivative != null && derivative.keepsOutput();
    }

    /** The gradient of x, given that of the result. */
    public Tensor gradient(Tensor g, ElementwiseBackward context) {
        return Objects.requireNonNull(derivative).gradient(g, context);
    }

    /** f(x; a, b) in 64 bits. */
    public double apply(double x, double a, double b) {
        return switch (this) {
            case NEG -> -x;
            case ABS -> Math.abs(x);
            case EXP -> Math.exp(x);
            case LOG -> Math.log(x);
            case SQRT -> Math.sqrt(x);
            case RSQRT -> 1 / Math.sqrt(x);
            case SQUARE -> x * x;
            case RECIPROCAL -> 1 / x;
            case POW -> Math.pow(x, a);
            case RELU -> Math.max(x, 0);
            case GELU -> ActivationFormulas.gelu(x);
            case GELU_TANH -> ActivationFormulas.geluTanh(x);
            case SILU -> ActivationFormulas.silu(x);
            case SIGMOID -> ActivationFormulas.sigmoid(x);
            case TANH -> Math.tanh(x);
            case SCALE -> a * x;
            case SHIFT -> x + a;
            case CLAMP -> Math.min(Math.max(x, a), b);
            case NOT -> x == 0 ? 1 : 0;
        };
    }

    /**
     * f(x; a, b) of integers, which wrap around, and truth values.
     *
     * @throws TpException if it is defined for floats only
     */
    public long apply(long x, double a, double b) {
        return switch (this) {
            case NEG -> -x;
            case ABS -> Math.abs(x);
            case SQUARE -> x * x;
            case RELU -> Math.max(x, 0);
            case SCALE -> a == (long) a ? x * (long) a : (long) (a * x);
            case SHIFT -> a == (long) a ? x + (long) a : (long) (x + a);
            case CLAMP -> Math.min(Math.max(x, (long) Math.ceil(a)), (long) Math.floor(b));
            case NOT -> x == 0 ? 1 : 0;
            default -> throw new TpException(this + " of integers is not defined; HINT: cast to float32 first");
        };
    }

    /** -1, 0 or 1 in the type of g. */
    private static Tensor sign(Tensor x, Tensor g, ElementwiseBackward c) {
        Tensor zero = c.number(0);
        return x.gt(zero).cast(g.dtype()).sub(x.lt(zero).cast(g.dtype()));
    }

    /** 1 where x is between the two numbers, else 0, in the type of g. */
    private static Tensor inside(Tensor x, Tensor g, ElementwiseBackward c) {
        return x.ge(c.number(c.a())).cast(g.dtype()).mul(x.le(c.number(c.b())).cast(g.dtype()));
    }
}
