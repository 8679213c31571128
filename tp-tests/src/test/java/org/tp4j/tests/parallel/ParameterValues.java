package org.tp4j.tests.parallel;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tp4j.nn.Module;

/** The values of a model's parameters. */
public final class ParameterValues {
    private ParameterValues() {}

    /** The whole of each parameter by name. Collective. */
    public static Map<String, double[]> of(Module model) {
        Map<String, double[]> values = new LinkedHashMap<>();
        model.state().forEach((name, tensor) -> values.put(name, Parity.whole(tensor)));
        return values;
    }
}
