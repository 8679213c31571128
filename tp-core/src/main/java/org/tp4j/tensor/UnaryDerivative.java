package org.tp4j.tensor;

import java.util.function.Predicate;

/**
 * The derivative of a {@link UnaryFunction}: the gradient g of the result becomes that of the argument x.
 *
 * @param kept what the formula is given besides g
 * @param linear the types for which the function is linear
 * @param formula the gradient of x
 */
record UnaryDerivative(Kept kept, Predicate<DType> linear, Formula formula) {
    enum Kept {
        NOTHING,
        INPUT,
        OUTPUT
    }

    /** Of g and the argument or result. */
    @FunctionalInterface
    interface Formula {
        Tensor apply(Tensor g, Tensor kept, ElementwiseBackward context);
    }

    /** Of g alone. */
    @FunctionalInterface
    interface LinearFormula {
        Tensor apply(Tensor g, ElementwiseBackward context);
    }

    /** Of a function that is linear for every type it is defined for. */
    static UnaryDerivative ofLinear(LinearFormula formula) {
        return ofLinear(type -> true, formula);
    }

    /** Of a function that is linear for some types; truncation, for one, is not. */
    static UnaryDerivative ofLinear(Predicate<DType> types, LinearFormula formula) {
        return new UnaryDerivative(Kept.NOTHING, types, (g, none, context) -> formula.apply(g, context));
    }

    /** Written in terms of x. */
    static UnaryDerivative ofInput(Formula formula) {
        return new UnaryDerivative(Kept.INPUT, type -> false, formula);
    }

    /** Written in terms of the result. */
    static UnaryDerivative ofOutput(Formula formula) {
        return new UnaryDerivative(Kept.OUTPUT, type -> false, formula);
    }

    boolean isLinear(DType type) {
        return linear.test(type);
    }

    boolean keepsInput() {
        return kept == Kept.INPUT;
    }

    boolean keepsOutput() {
        return kept == Kept.OUTPUT;
    }

    Tensor gradient(Tensor g, ElementwiseBackward context) {
        return switch (kept) {
            case NOTHING -> formula.apply(g, g, context);
            case INPUT -> formula.apply(g, context.input(0), context);
            case OUTPUT -> formula.apply(g, context.output(), context);
        };
    }
}
