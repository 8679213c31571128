package org.tp4j.cuda.internal.compile;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.tp4j.cuda.internal.arguments.ArgumentHeaders;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ReductionKernels;
import org.tp4j.tensor.UnaryFunction;

/** The headers generated at run time from the enums, constants and structs that kernels and Java share. */
final class GeneratedHeaders {
    private GeneratedHeaders() {}

    /** Their text by name, for sources compiled for one element type. */
    static Map<String, String> forType(DType scalar) {
        Map<String, String> headers = ArgumentHeaders.all();
        headers.put("codes.cuh", codes());
        headers.put("activations.cuh", activations());
        headers.put("elementwise.cuh", elementwise(scalar));
        return headers;
    }

    private static String codes() {
        return CppText.header("codes and sizes")
                .constant("MAX_DIMS", KernelConstants.MAX_DIMS)
                .constant("NAMED_BYTES", KernelConstants.NAMED_BYTES)
                .constant("KEPT", KernelConstants.KEPT)
                .constant("AHEAD", KernelConstants.AHEAD)
                .constant("MOST_THREADS", KernelConstants.MOST_THREADS)
                .constant("COLUMN_THREADS", KernelConstants.COLUMN_THREADS)
                .constant("TILE_OF_LARGE", KernelConstants.TILE)
                .constant("TILE_OF_SMALL", KernelConstants.TILE_OF_SMALL)
                .enumeration("Kind", ReductionKernels.Kind.values())
                .enumeration("ResultForm", ResultForm.values())
                .line("// visit(Type<T>()) for an element type T.")
                .visitor("withType", "Visitor visit", "", typesThat(type -> true))
                .line("// The same among floating-point types.")
                .visitor("withFloat", "Visitor visit", "", typesThat(DType::isFloating))
                .toString();
    }

    private static Map<DType, String> typesThat(Predicate<DType> fit) {
        return choices(DType.values(), fit, type -> "Type<" + type.cudaName() + ">()");
    }

    private static String elementwise(DType scalar) {
        Map<UnaryFunction, String> unary = choices(
                UnaryFunction.values(),
                f -> f.isDefinedFor(scalar),
                f -> "[=](C x) { return " + f.cudaExpression(scalar) + "; }");
        Map<BinaryFunction, String> binary = choices(
                BinaryFunction.values(),
                f -> f.isDefinedFor(scalar) && !f.givesBool(),
                f -> "[](C a, C b) { return " + f.cudaExpression(scalar) + "; }");
        Map<BinaryFunction, String> comparisons = choices(
                BinaryFunction.values(), f -> f.isDefinedFor(scalar) && f.givesBool(), f -> f.cudaExpression(scalar));
        String numbers = scalar.isFloating() ? "    C a = (C)k.a;\n    C b = (C)k.b;\n" : "";
        return CppText.header("elementwise functions of " + scalar)
                .line("// visit(f) for a UnaryFunction f(x).")
                .visitor("withUnary", "const Factors& k, Visitor visit", numbers, unary)
                .line("// visit(f) for a BinaryFunction f(a, b) that gives numbers.")
                .visitor("withBinary", "Visitor visit", "", binary)
                .line("// A BinaryFunction that gives a truth value.")
                .line("__device__ __forceinline__ bool holds(int code, C a, C b) {")
                .choose("", comparisons)
                .line("}")
                .toString();
    }

    private static String activations() {
        CppText text = CppText.header("activations: f(x) is the value, f.gradient(x, dy) the derivative at x times dy");
        for (Activation activation : Activation.values()) {
            text.line("struct " + structOf(activation) + " {")
                    .line("    template <class C> __device__ __forceinline__ C operator()(C x) const {")
                    .line("        return " + activation.forward().cudaExpression(DType.FLOAT32) + ";")
                    .line("    }")
                    .line("    template <class C> __device__ __forceinline__ C gradient(C a, C b) const {")
                    .line("        return " + activation.gradient().cudaExpression(DType.FLOAT32) + ";")
                    .line("    }")
                    .line("};");
        }
        return text.line("// visit(f) for an Activation f.")
                .visitor(
                        "withActivation",
                        "Visitor visit",
                        "",
                        choices(Activation.values(), activation -> true, activation -> structOf(activation) + "()"))
                .toString();
    }

    private static String structOf(Activation activation) {
        return "Activation_" + activation.name();
    }

    private static <E extends Enum<E>> Map<E, String> choices(E[] all, Predicate<E> fit, Function<E, String> text) {
        Map<E, String> choices = new LinkedHashMap<>();
        for (E constant : all) {
            if (fit.test(constant)) {
                choices.put(constant, text.apply(constant));
            }
        }
        return choices;
    }
}
