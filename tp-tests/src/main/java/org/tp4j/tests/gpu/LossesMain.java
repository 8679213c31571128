package org.tp4j.tests.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Compares the losses in two metrics files of the MLP example, step by step: {@code LossesMain FILE REFERENCE}. Weights and
 * dropout masks begin the same on every device, so the first steps differ by rounding alone; training lets that grow, so
 * later steps are shown and not judged.
 */
public final class LossesMain {
    private static final int JUDGED_STEPS = 20;
    private static final double BOUND = 1e-3;

    private LossesMain() {}

    /** Compares; exit code 1 if a judged loss differs by more than its bound. */
    public static void main(String[] args) throws IOException {
        ObjectMapper json = new ObjectMapper();
        JsonNode own = json.readTree(Path.of(args[0]).toFile()).path("step_losses");
        JsonNode reference = json.readTree(Path.of(args[1]).toFile()).path("step_losses");
        int steps = reference.size();
        if (steps == 0 || own.size() != steps) {
            throw new IllegalStateException(
                    args[0] + " has " + own.size() + " losses and " + args[1] + " has " + steps);
        }
        double judged = 0;
        double all = 0;
        for (int i = 0; i < steps; i++) {
            double expected = reference.get(i).asDouble();
            double difference = Math.abs(own.get(i).asDouble() - expected) / Math.abs(expected);
            difference = Double.isNaN(difference) ? Double.POSITIVE_INFINITY : difference;
            judged = i < JUDGED_STEPS ? Math.max(judged, difference) : judged;
            all = Math.max(all, difference);
        }
        boolean passed = judged <= BOUND;
        System.out.println(json.createObjectNode()
                .put("measure", "losses")
                .put("steps", steps)
                .put("largest_difference_first_20", judged)
                .put("bound", BOUND)
                .put("largest_difference", all)
                .put("passed", passed ? 1 : 0)
                .put("failed", passed ? 0 : 1));
        System.out.printf("%s: losses differ by %.2e at most in the first steps%n", passed ? "PASS" : "FAIL", judged);
        System.exit(passed ? 0 : 1);
    }
}
