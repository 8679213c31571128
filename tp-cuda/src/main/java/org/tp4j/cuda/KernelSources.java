package org.tp4j.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.tensor.DType;

/** The CUDA C++ sources among the resources, and how they are compiled for an element type. */
final class KernelSources {
    private static final List<String> HEADERS =
            List.of("tp4j.cuh", "loops.cuh", "functions.cuh", "arithmetic.cuh", "rows.cuh");

    private KernelSources() {}

    /** The text of what sources include, by name. */
    static Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>();
        HEADERS.forEach(header -> headers.put(header, text(header)));
        return headers;
    }

    /** The macros a source is compiled with for an element type. */
    static List<String> defines(DType scalar) {
        return List.of("SCALAR=" + typeName(scalar), "SCALAR_IS_" + scalar.name());
    }

    /** The C type of an element in memory. */
    private static String typeName(DType type) {
        return switch (type) {
            case FLOAT32 -> "float";
            case FLOAT64 -> "double";
            case BFLOAT16 -> "bfloat16";
            case FLOAT16 -> "float16";
            case INT32 -> "int";
            case INT64 -> "int64";
            case BOOL -> "bool8";
        };
    }

    /** The text of a resource. */
    static String text(String name) {
        try (InputStream in = KernelSources.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
