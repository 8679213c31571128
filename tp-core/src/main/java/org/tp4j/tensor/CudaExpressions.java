package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/**
 * An elementwise function as CUDA C++ expressions, one per class of element types; it is not defined for a class without
 * one. Floats of 16 bits are computed in 32 bits, integers and truth values in 64, which wrap around.
 */
record CudaExpressions(
        @Nullable String floating,
        @Nullable String integer,
        @Nullable String bool) {
    static CudaExpressions floats(String expression) {
        return new CudaExpressions(expression, null, null);
    }

    static CudaExpressions numbers(String floating, String integer) {
        return new CudaExpressions(floating, integer, null);
    }

    static CudaExpressions bools(String expression) {
        return new CudaExpressions(null, null, expression);
    }

    static CudaExpressions anything(String expression) {
        return new CudaExpressions(expression, expression, expression);
    }

    @Nullable String of(DType type) {
        return type.isFloating() ? floating : type.isInteger() ? integer : bool;
    }

    /** The expression for a type that the function is defined for. */
    String require(DType type, Object function) {
        String expression = of(type);
        if (expression == null) {
            throw new IllegalArgumentException(function + " is not defined for " + type);
        }
        return expression;
    }
}
