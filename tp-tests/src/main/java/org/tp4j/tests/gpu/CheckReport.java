package org.tp4j.tests.gpu;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What came of a check: as JSON for programs, as a table for people. */
final class CheckReport {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int REASON_LENGTH = 100;

    private final ObjectNode facts;
    private final List<StageResult> results;
    private final List<Goals.Goal> goals;

    /**
     * @param facts what was checked: simulated or not, which commit
     * @param results what came of the stages so far
     */
    CheckReport(ObjectNode facts, List<StageResult> results) {
        this.facts = facts;
        this.results = results;
        this.goals = facts.path("simulated").asBoolean() ? List.of() : Goals.of(figures(results));
    }

    private static List<JsonNode> figures(List<StageResult> results) {
        List<JsonNode> all = new ArrayList<>();
        results.forEach(result -> all.addAll(result.figures()));
        return all;
    }

    /** Whether every stage has passed or had nothing to do. */
    boolean passed() {
        return !results.isEmpty() && results.stream().allMatch(StageResult::isGood);
    }

    /** Writes the JSON; the file is whole at any time. */
    void write(Path file) throws IOException {
        ObjectNode all = facts.deepCopy();
        all.put("passed", passed());
        ArrayNode stages = all.putArray("stages");
        for (StageResult result : results) {
            ObjectNode stage = stages.addObject();
            stage.put("name", result.stage().name());
            stage.put("outcome", result.outcome().name().toLowerCase(Locale.ROOT));
            stage.put("seconds", Math.round(result.seconds() * 100) / 100.0);
            stage.put("limit_seconds", result.stage().limitSeconds());
            stage.put("reason", result.reason());
            stage.put("command", String.join(" ", result.stage().command()));
            stage.putArray("figures").addAll(result.figures());
            ArrayNode tail = stage.putArray("tail");
            result.tail().forEach(tail::add);
        }
        ArrayNode compared = all.putArray("goals");
        for (Goals.Goal goal : goals) {
            compared.addObject()
                    .put("goal", goal.what())
                    .put("measured", goal.measured())
                    .put("bound", goal.bound())
                    .put("met", goal.met());
        }
        Path temporary = file.resolveSibling(file.getFileName() + ".new");
        Files.writeString(temporary, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n");
        Files.move(temporary, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    }

    /** The table: stage, outcome, seconds, the figures in short; then the measurements and the goals. */
    String table() {
        StringBuilder text = new StringBuilder();
        line(text, "%-26s %-8s %8s  %s", "stage", "outcome", "seconds", "");
        for (StageResult result : results) {
            line(
                    text,
                    "%-26s %-8s %8.1f  %s",
                    result.stage().name(),
                    result.outcome().name().toLowerCase(Locale.ROOT),
                    result.seconds(),
                    summary(result));
        }
        results.forEach(result -> measurements(text, result));
        if (!goals.isEmpty()) {
            text.append('\n');
            goals.forEach(goal -> line(
                    text,
                    "%-80s %8.3f  %-9s %s",
                    goal.what(),
                    goal.measured(),
                    "(" + goal.bound() + ")",
                    goal.met() ? "met" : "MISSED"));
        }
        return text.toString();
    }

    private static void line(StringBuilder text, String format, Object... values) {
        text.append(String.format(Locale.ROOT, format, values).stripTrailing()).append('\n');
    }

    private static String summary(StageResult result) {
        if (!result.reason().isEmpty()) {
            String reason = result.reason();
            return reason.length() > REASON_LENGTH ? reason.substring(0, REASON_LENGTH) + " ..." : reason;
        }
        int passed = 0;
        int skipped = 0;
        for (JsonNode figure : result.figures()) {
            passed += figure.path("passed").asInt();
            skipped += figure.path("skipped").asInt();
        }
        return passed == 0 ? "" : passed + " passed" + (skipped == 0 ? "" : ", " + skipped + " skipped");
    }

    private static void measurements(StringBuilder text, StageResult result) {
        for (JsonNode f : result.figures()) {
            if (f.has("tests")) {
                String name = f.path("tests").asText();
                line(
                        text,
                        "  %s: %d passed, %d failed, %d skipped, %.1f s",
                        name.substring(name.lastIndexOf('.') + 1),
                        f.path("passed").asInt(),
                        f.path("failed").asInt(),
                        f.path("skipped").asInt(),
                        f.path("seconds").asDouble());
            }
            switch (f.path("measure").asText()) {
                case "mlp" ->
                    line(
                            text,
                            "  mlp %s %d x %d x %d: eager %.4f ms (%.0f TFLOP/s, products %.0f %%), graph %.4f ms (%.0f"
                                    + " %%); PyTorch eager %s, compiled %s, with graphs %s ms",
                            f.path("dtype").asText(),
                            f.path("tokens").asInt(),
                            f.path("hidden").asInt(),
                            f.path("ffn").asInt(),
                            f.path("eager_ms").asDouble(),
                            f.path("eager_tflops").asDouble(),
                            100 * f.path("eager_gemm_share").asDouble(),
                            f.path("graph_ms").asDouble(),
                            100 * f.path("graph_gemm_share").asDouble(),
                            ms(f, "torch_eager"),
                            ms(f, "torch_compile"),
                            ms(f, "torch_reduce_overhead"));
                case "product" ->
                    line(
                            text,
                            "  product %s %s %d x %d x %d: %.0f TFLOP/s; PyTorch %s",
                            f.path("dtype").asText(),
                            f.path("product").asText(),
                            f.path("m").asInt(),
                            f.path("n").asInt(),
                            f.path("k").asInt(),
                            f.path("tflops").asDouble(),
                            f.has("torch_tflops")
                                    ? String.format(
                                            Locale.ROOT,
                                            "%.0f",
                                            f.path("torch_tflops").asDouble())
                                    : "-");
                case "op", "copy" -> line(text, "  %s", numbers(f));
                case "kernel" ->
                    line(
                            text,
                            "  kernel %s %s: %s GB/s",
                            f.path("dtype").asText(),
                            f.path("kernel").asText(),
                            f.has("gb_s")
                                    ? f.path("gb_s").asText()
                                    : f.path("kernel_failed").asText());
                case "skipped", "failed" ->
                    line(
                            text,
                            "  %s: %s",
                            f.path("what").asText(),
                            f.path("why").asText());
                default -> {}
            }
        }
    }

    private static String ms(JsonNode figure, String side) {
        return figure.has(side + "_ms")
                ? String.format(Locale.ROOT, "%.4f", figure.path(side + "_ms").asDouble())
                : "-";
    }

    private static String numbers(JsonNode figure) {
        StringBuilder text = new StringBuilder(figure.path("measure").asText() + ":");
        figure.properties().forEach(field -> {
            if (field.getValue().isNumber()) {
                text.append(' ').append(field.getKey()).append(' ').append(field.getValue());
            }
        });
        return text.toString();
    }
}
