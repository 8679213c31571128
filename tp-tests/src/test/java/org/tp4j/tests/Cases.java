package org.tp4j.tests;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.DTensor;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * One acceptance case: the numbers of {@code cases/<id>.json}. Inside it tensors are nested lists, found by JSON pointer
 * without the first slash: {@code "Y"}, {@code "by_S/5/grad_X"}.
 */
public final class Cases {
    /** Expected values have 12 digits and come from float64 computations. */
    private static final double FLOAT64_TOLERANCE = 1e-6;

    /** A few hundred roundings of 2^-24, relative to the largest magnitude in the tensor. */
    private static final double FLOAT32_TOLERANCE = 1e-5;

    private final String id;
    private final JsonNode root;

    private Cases(String id, JsonNode root) {
        this.id = id;
        this.root = root;
    }

    /** The case of that id, such as {@code A08}. */
    public static Cases of(String id) {
        try (InputStream in = Cases.class.getResourceAsStream("/cases/" + id + ".json")) {
            return new Cases(id, new ObjectMapper().readTree(Objects.requireNonNull(in, id)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The node at a pointer. */
    public JsonNode at(String path) {
        JsonNode node = root.at("/" + path);
        if (node.isMissingNode()) {
            throw new IllegalArgumentException(id + " has no " + path);
        }
        return node;
    }

    /** Whether there is a node at a pointer. */
    public boolean has(String path) {
        return !root.at("/" + path).isMissingNode();
    }

    /** A number. */
    public double number(String path) {
        return number(at(path));
    }

    /** All numbers of a nested list, row-major. */
    public double[] doubles(String path) {
        return doubles(at(path));
    }

    /** All numbers of a nested list, row-major. */
    public static double[] doubles(JsonNode list) {
        List<Double> numbers = new ArrayList<>();
        collect(list, numbers);
        return numbers.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** All integers of a nested list, row-major. */
    public long[] longs(String path) {
        return longs(at(path));
    }

    /** All integers of a nested list, row-major. */
    public static long[] longs(JsonNode list) {
        double[] all = doubles(list);
        long[] result = new long[all.length];
        for (int i = 0; i < all.length; i++) {
            result[i] = (long) all[i];
        }
        return result;
    }

    /** Sizes of a nested list. */
    public Shape shape(String path) {
        List<Long> sizes = new ArrayList<>();
        JsonNode node = at(path);
        while (node != null && node.isArray()) {
            sizes.add((long) node.size());
            node = node.get(0);
        }
        return Shape.of(sizes.stream().mapToLong(Long::longValue).toArray());
    }

    /** A nested list as a tensor. */
    public Tensor tensor(Backend backend, DType dtype, String path) {
        Tensor wide = Tensors.of(backend, doubles(path), shape(path).toArray());
        return wide.cast(dtype);
    }

    /** A nested list of integers as an INT64 tensor. */
    public Tensor ids(Backend backend, String path) {
        return Tensors.of(backend, longs(path), shape(path).toArray());
    }

    /** Asserts that a tensor (the whole of it, gathered if it is on a mesh) is the nested list, within the tolerance. */
    public void assertIs(String path, Tensor actual) {
        Tensor whole = actual.detach() instanceof DTensor d ? d.fullTensor() : actual;
        assertThat(whole.shape()).as(id + " " + path).isEqualTo(shape(path));
        assertClose(id + " " + path, whole.toDoubles(), doubles(path), actual.dtype());
    }

    /** Asserts that numbers computed in {@code dtype} are those expected, within the tolerance of all cases. */
    public static void assertClose(String what, double[] actual, double[] expected, DType dtype) {
        double largest = 1;
        for (double e : expected) {
            largest = Double.isFinite(e) ? Math.max(largest, Math.abs(e)) : largest;
        }
        double tolerance = dtype == DType.FLOAT64 ? FLOAT64_TOLERANCE : FLOAT32_TOLERANCE * largest;
        assertThat(actual).as(what).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
            boolean close =
                    Double.compare(actual[i], expected[i]) == 0 || Math.abs(actual[i] - expected[i]) <= tolerance;
            assertThat(close)
                    .as(
                            "%s: element %d of %s is %s, expected %s within %s",
                            what, i, dtype, actual[i], expected[i], tolerance)
                    .isTrue();
        }
    }

    private static void collect(JsonNode node, List<Double> numbers) {
        if (node.isArray()) {
            node.forEach(child -> collect(child, numbers));
        } else {
            numbers.add(number(node));
        }
    }

    private static double number(JsonNode node) {
        // NaN, Infinity and integers beyond 2^53 are strings
        return node.isTextual() ? Double.parseDouble(node.asText()) : node.asDouble();
    }
}
