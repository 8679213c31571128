package org.tp4j.tests.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.Shape;

/**
 * A case as the index tells of it.
 *
 * @param name its name, and that of its file
 * @param about description
 * @param settings its settings by name
 * @param tensors its tensors by name
 * @param file where its tensors are
 */
public record ReferenceCase(
        String name, String about, Map<String, JsonNode> settings, Map<String, Facts> tensors, Path file) {
    /**
     * What the index says of a tensor.
     *
     * @param dtype its type, in the words of the index: {@code float32}
     * @param shape its sizes
     */
    public record Facts(String dtype, Shape shape) {}

    /** Whether it has all of these tensors. */
    public boolean has(String... names) {
        return Arrays.stream(names).allMatch(tensors::containsKey);
    }

    /** Whether it has a tensor of this name and of so many dimensions. */
    public boolean has(String tensor, int dims) {
        Facts facts = tensors.get(tensor);
        return facts != null && facts.shape().dims() == dims;
    }

    /**
     * Sizes of a tensor.
     *
     * @throws IllegalArgumentException if there is none of that name
     */
    public Shape shape(String tensor) {
        Facts facts = tensors.get(tensor);
        if (facts == null) {
            throw new IllegalArgumentException("tensor '" + tensor + "' is missing; there are " + tensors.keySet());
        }
        return facts.shape();
    }

    /** A setting, or null. */
    public @Nullable JsonNode setting(String key) {
        JsonNode value = settings.get(key);
        return value == null || value.isNull() ? null : value;
    }

    /** A setting that is a number (or the text of one), or the default where it is not given. */
    public double number(String key, double otherwise) {
        JsonNode value = setting(key);
        if (value == null) {
            return otherwise;
        }
        if (value.isTextual()) {
            return switch (value.asText()) {
                case "inf", "Infinity" -> Double.POSITIVE_INFINITY;
                default -> Double.parseDouble(value.asText());
            };
        }
        if (!value.isNumber()) {
            throw new IllegalArgumentException("setting '" + key + "' is " + value + ", not a number");
        }
        return value.asDouble();
    }

    /** A setting that is true or false, or false where it is not given. */
    public boolean flag(String key) {
        JsonNode value = setting(key);
        return value != null && value.asBoolean();
    }

    /** The words of its name, its settings that are texts, and its description, in lower case, in that order. */
    public String[] descriptions() {
        StringBuilder texts = new StringBuilder();
        settings.values().stream()
                .filter(JsonNode::isTextual)
                .forEach(t -> texts.append(t.asText()).append(' '));
        return new String[] {
            name.toLowerCase(Locale.ROOT), texts.toString().toLowerCase(Locale.ROOT), about.toLowerCase(Locale.ROOT)
        };
    }
}
