package org.tp4j.examples.parity;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.tp4j.tensor.DType;

/**
 * The largest differences between two trainings.
 *
 * @param dtype the type both computed in
 * @param loss largest difference between the losses of a step; infinite if one of them is NaN
 * @param parameter largest difference between trained values; infinite if one of them is NaN
 * @param worstParameter name of the parameter with that difference
 */
public record TrainingDifference(DType dtype, double loss, double parameter, String worstParameter) {
    /** Compares two trainings with the same settings. */
    public static TrainingDifference between(DType dtype, TrainedModel one, TrainedModel other) {
        double loss = largest(
                toArray(one.result().stepLosses()), toArray(other.result().stepLosses()));
        double parameter = 0;
        String worst = "";
        for (Map.Entry<String, double[]> entry : one.parameters().entrySet()) {
            double[] values = Objects.requireNonNull(other.parameters().get(entry.getKey()), entry.getKey());
            double largest = largest(entry.getValue(), values);
            if (worst.isEmpty() || largest > parameter) {
                parameter = largest;
                worst = entry.getKey();
            }
        }
        return new TrainingDifference(dtype, loss, parameter, worst);
    }

    /** Whether both differences are within their bounds. */
    public boolean passed() {
        return loss <= lossBound() && parameter <= parameterBound();
    }

    /**
     * The bound on differences between losses: about 100 times what the default settings give. A missing all-reduce or a
     * different dropout mask gives differences near 1.
     */
    public double lossBound() {
        return switch (dtype) {
            case FLOAT64 -> 1e-6;
            case FLOAT32 -> 1e-4;
            default -> 0.1;
        };
    }

    /** The bound on differences between parameters, chosen like {@link #lossBound}. */
    public double parameterBound() {
        return switch (dtype) {
            case FLOAT64 -> 1e-6;
            case FLOAT32 -> 1e-3;
            default -> 0.1;
        };
    }

    private static double[] toArray(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double largest(double[] a, double[] b) {
        double largest = 0;
        for (int i = 0; i < a.length; i++) {
            double difference = Math.abs(a[i] - b[i]);
            largest = Math.max(largest, Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference);
        }
        return largest;
    }
}
