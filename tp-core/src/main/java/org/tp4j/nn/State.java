package org.tp4j.nn;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.tp4j.nn.internal.NamePattern;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;

/** Loads values by name into the parameters of a model: all of them fit, or nothing is changed. */
final class State {
    private static final int MOST_NAMES = 12;

    private State() {}

    /**
     * Overwrites all parameters.
     *
     * @throws IllegalArgumentException listing every missing or unknown name and every shape or type that differs
     */
    static void load(
            Map<String, Parameter> parameters, Map<String, String> aliases, Map<String, ? extends Tensor> given) {
        List<String> problems = new ArrayList<>();
        Map<String, Tensor> values = byFirstName(aliases, given, problems);
        parameters.forEach((name, parameter) -> {
            Tensor value = values.get(name);
            if (value == null) {
                problems.add("missing: '" + name + "' " + parameter.shape());
            } else {
                compare(name, parameter, value, problems);
            }
        });
        values.forEach((name, value) -> {
            if (!parameters.containsKey(name)) {
                problems.add("unknown: '" + name + "' " + value.shape() + ", the nearest name is '"
                        + NamePattern.of(name).nearest(parameters.keySet()) + "'");
            }
        });
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException("the state does not fit the model, nothing was changed:\n  - "
                    + String.join("\n  - ", problems) + "\nHINT: the model has " + names(parameters));
        }
        parameters.forEach((name, parameter) -> parameter.assign(Objects.requireNonNull(values.get(name))));
    }

    /** The values with tied parameters under their first names. */
    private static Map<String, Tensor> byFirstName(
            Map<String, String> aliases, Map<String, ? extends Tensor> given, List<String> problems) {
        Map<String, Tensor> values = new LinkedHashMap<>(given);
        aliases.forEach((alias, name) -> {
            Tensor value = values.remove(alias);
            Tensor other = value == null ? null : values.putIfAbsent(name, value);
            if (other != null && other != value) {
                problems.add("given twice: '" + name + "' and '" + alias
                        + "' are one tied parameter; leave one of them out");
            }
        });
        return values;
    }

    private static void compare(String name, Parameter parameter, Tensor value, List<String> problems) {
        if (!value.shape().equals(parameter.shape())) {
            problems.add("shape of '" + name + "': " + parameter.shape() + " expected, " + value.shape() + " given");
        }
        DType type = parameter.tensor().dtype();
        if (value.dtype().isFloating() != type.isFloating()) {
            problems.add("type of '" + name + "': " + type(type) + " expected, " + type(value.dtype()) + " given");
        }
    }

    /** A type by its own name and by that of safetensors files, where state usually comes from. */
    private static String type(DType dtype) {
        return dtype + " (" + dtype.safetensorsName() + ")";
    }

    private static String names(Map<String, Parameter> parameters) {
        return parameters.size() <= MOST_NAMES
                ? parameters.keySet().toString()
                : parameters.size() + " parameters, see parameters().keySet()";
    }
}
