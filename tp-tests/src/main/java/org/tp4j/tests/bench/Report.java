package org.tp4j.tests.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.tp4j.tensor.Tensor;

/** A line of JSON in the making; numbers are rounded to what can be told apart. */
final class Report {
    private final Map<String, Object> fields = new LinkedHashMap<>();

    Report() {
        String version = Tensor.class.getPackage().getImplementationVersion();
        put("system", "tp4j").put("version", version == null ? "development" : version);
    }

    Report put(String name, Object value) {
        fields.put(name, value);
        return this;
    }

    Report put(String name, double value, int decimals) {
        double unit = Math.pow(10, decimals);
        return put(name, Math.round(value * unit) / unit);
    }

    @Override
    public String toString() {
        try {
            return new ObjectMapper().writeValueAsString(fields);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }
}
