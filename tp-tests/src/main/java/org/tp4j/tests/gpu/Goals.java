package org.tp4j.tests.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What the library promises of one H200, held against the figures of one run. A goal is compared only where both sides were
 * measured.
 */
final class Goals {
    /**
     * One promise.
     *
     * @param what in words
     * @param measured the figure
     * @param bound what it is compared with
     * @param met whether it is kept
     */
    record Goal(String what, double measured, double bound, boolean met) {
        static Goal atLeast(String what, double measured, double bound) {
            return new Goal(what, measured, bound, measured >= bound);
        }

        static Goal below(String what, double measured, double bound) {
            return new Goal(what, measured, bound, measured < bound);
        }
    }

    private final List<JsonNode> figures;
    private final List<Goal> goals = new ArrayList<>();

    private Goals(List<JsonNode> figures) {
        this.figures = figures;
    }

    /** The goals that the figures can be held against. */
    static List<Goal> of(List<JsonNode> figures) {
        return new Goals(figures).compare();
    }

    private List<Goal> compare() {
        step(8192, "bf16").ifPresent(step -> {
            goals.add(Goal.atLeast(
                    "8192 x 4096 x 16384 bf16: products alone / eager step", number(step, "eager_gemm_share"), 0.92));
            goals.add(Goal.atLeast(
                    "8192 x 4096 x 16384 bf16: products alone / captured step",
                    number(step, "graph_gemm_share"),
                    0.92));
            find(figure -> is(figure, "measure", "product")
                            && is(figure, "dtype", "bf16")
                            && figure.path("m").asInt() == 8192
                            && figure.path("n").asInt() == 8192
                            && figure.path("k").asInt() == 8192)
                    .ifPresent(square -> goals.add(Goal.atLeast(
                            "8192 x 4096 x 16384 bf16: rate of the eager step / rate of an 8192^3 product",
                            number(step, "eager_tflops") / number(square, "tflops"),
                            0.92)));
            addRatio(step, "8192 x 4096 x 16384 bf16: PyTorch eager / eager", "eager_over_torch_eager", 1);
            addRatio(step, "8192 x 4096 x 16384 bf16: PyTorch compiled / eager", "eager_over_torch_compile", 1);
            addRatio(step, "8192 x 4096 x 16384 bf16: PyTorch compiled / captured", "graph_over_torch_compile", 1);
        });
        for (String type : List.of("bf16", "fp32")) {
            step(64, type)
                    .ifPresent(step -> addRatio(
                            step,
                            "64 x 256 x 1024 " + type + ": PyTorch eager / eager, no graph",
                            "eager_over_torch_eager",
                            3));
        }
        find(figure -> is(figure, "measure", "op"))
                .ifPresent(op ->
                        goals.add(Goal.below("host cost of an eager add, microseconds", number(op, "add_us"), 5)));
        goals.removeIf(goal -> Double.isNaN(goal.measured));
        return goals;
    }

    private void addRatio(JsonNode figure, String what, String field, double bound) {
        if (figure.has(field)) {
            goals.add(Goal.atLeast(what, number(figure, field), bound));
        }
    }

    private Optional<JsonNode> step(int tokens, String type) {
        return find(figure -> is(figure, "measure", "mlp")
                && is(figure, "dtype", type)
                && figure.path("tokens").asInt() == tokens);
    }

    private Optional<JsonNode> find(Predicate<JsonNode> wanted) {
        return figures.stream().filter(wanted).findFirst();
    }

    private static boolean is(JsonNode figure, String field, String value) {
        return figure.path(field).asText().equals(value);
    }

    private static double number(JsonNode figure, String field) {
        return figure.path(field).asDouble(Double.NaN);
    }
}
