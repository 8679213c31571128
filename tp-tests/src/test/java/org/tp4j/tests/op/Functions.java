package org.tp4j.tests.op;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Optional;
import java.util.regex.Pattern;
import org.tp4j.autograd.Tensors;
import org.tp4j.op.internal.BinaryOp;
import org.tp4j.op.internal.UnaryOp;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;

/** Elementwise functions run on tensors: by the method of {@link Tensor} that has a function's name, or as an operation. */
final class Functions {
    /** The numbers that functions are given which take some. */
    static final double A = -0.7501;

    static final double B = 1.1003;

    private Functions() {}

    /** The name of the method that is a function, such as {@code geluTanh}, or {@code function SCALE} if none is. */
    static String name(UnaryFunction function) {
        return method(function).map(Method::getName).orElse("function " + function);
    }

    static String name(BinaryFunction function) {
        return method(function, Tensor.class).map(Method::getName).orElse("function " + function);
    }

    static Tensor apply(UnaryFunction function, Tensor x) {
        return method(function)
                .map(method -> invoke(method, x))
                .orElseGet(() -> Tensors.apply(new UnaryOp(function, A, B), x));
    }

    static Tensor apply(BinaryFunction function, Tensor a, Tensor b) {
        return method(function, Tensor.class)
                .map(method -> invoke(method, a, b))
                .orElseGet(() -> Tensors.apply(new BinaryOp(function), a, b));
    }

    private static String methodName(Enum<?> function) {
        String lower = function.name().toLowerCase(java.util.Locale.ROOT);
        return Pattern.compile("_(.)").matcher(lower).replaceAll(m -> m.group(1).toUpperCase(java.util.Locale.ROOT));
    }

    private static Optional<Method> method(Enum<?> function, Class<?>... parameters) {
        try {
            return Optional.of(Tensor.class.getMethod(methodName(function), parameters));
        } catch (NoSuchMethodException none) {
            return Optional.empty();
        }
    }

    private static Tensor invoke(Method method, Tensor on, Object... with) {
        try {
            return (Tensor) method.invoke(on, with);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause; // a refusal is the operation's, not reflection's
            }
            throw new IllegalStateException(e);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
