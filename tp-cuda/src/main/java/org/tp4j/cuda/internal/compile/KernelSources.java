package org.tp4j.cuda.internal.compile;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.tp4j.tensor.DType;

/** The CUDA C++ sources among the resources, and how they are compiled for an element type. */
final class KernelSources {
    /** The folder of the sources among the resources. */
    static final String FOLDER = "/org/tp4j/cuda/";

    private static final List<String> HEADERS =
            List.of("tp4j.cuh", "loops.cuh", "functions.cuh", "arithmetic.cuh", "rows.cuh");

    private KernelSources() {}

    /** The headers that sources compiled for an element type include: text by name. */
    static Map<String, String> headers(DType scalar) {
        Map<String, String> headers = new TreeMap<>(GeneratedHeaders.forType(scalar));
        HEADERS.forEach(header -> headers.put(header, text(header)));
        return headers;
    }

    /** The macros a source is compiled with for an element type. */
    static List<String> defines(DType scalar) {
        String scalarType = "SCALAR=" + scalar.cudaName();
        return scalar.isFloating() ? List.of(scalarType) : List.of(scalarType, "SCALAR_IS_WHOLE");
    }

    /** The text of a source, such as {@code copy.cu}. */
    static String text(String name) {
        try (InputStream in = KernelSources.class.getResourceAsStream(FOLDER + name)) {
            if (in == null) {
                throw new IllegalStateException("the jar lacks " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
