package org.tp4j.tests.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.tests.gpu.StageResult.Outcome;

/** Goals held against figures, and what is written of a check. */
class CheckReportTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    private static ObjectNode step(int tokens, String type) {
        return JSON.createObjectNode()
                .put("measure", "mlp")
                .put("tokens", tokens)
                .put("dtype", type);
    }

    private static List<JsonNode> figures() {
        return List.of(
                step(8192, "bf16")
                        .put("eager_gemm_share", 0.95)
                        .put("graph_gemm_share", 0.91)
                        .put("eager_tflops", 690)
                        .put("eager_over_torch_eager", 1.02),
                JSON.createObjectNode()
                        .put("measure", "product")
                        .put("dtype", "bf16")
                        .put("m", 8192)
                        .put("n", 8192)
                        .put("k", 8192)
                        .put("tflops", 750),
                step(64, "bf16").put("eager_over_torch_eager", 2.5),
                JSON.createObjectNode().put("measure", "op").put("add_us", 5.0));
    }

    @Test
    void shouldHoldFiguresAgainstTheGoals() {
        assertThat(Goals.of(figures()))
                .extracting(Goals.Goal::measured, Goals.Goal::bound, Goals.Goal::met)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(0.95, 0.92, true),
                        org.assertj.core.groups.Tuple.tuple(0.91, 0.92, false),
                        org.assertj.core.groups.Tuple.tuple(0.92, 0.92, true),
                        org.assertj.core.groups.Tuple.tuple(1.02, 1.0, true),
                        org.assertj.core.groups.Tuple.tuple(2.5, 3.0, false),
                        org.assertj.core.groups.Tuple.tuple(5.0, 5.0, false));
    }

    @Test
    void shouldCompareNoGoalWithoutItsFigures() {
        assertThat(Goals.of(List.of())).isEmpty();
        // A graph that could not be captured has a share of NaN, which JSON gives as text.
        assertThat(Goals.of(List.of(step(8192, "bf16").put("eager_gemm_share", "NaN"))))
                .isEmpty();
    }

    private CheckReport report(boolean simulated, Outcome outcome) {
        Stage stage = Stage.of("measurements", 9, 1, List.of("java", "x"));
        String reason = outcome == Outcome.PASSED ? "" : "exit code 1: it broke";
        StageResult result = new StageResult(stage, outcome, 1.25, reason, figures(), List.of("last words"));
        return new CheckReport(JSON.createObjectNode().put("simulated", simulated), List.of(result));
    }

    @Test
    void shouldWriteStagesFiguresAndGoals() throws Exception {
        Path file = folder.resolve("gpu-check.json");
        report(false, Outcome.FAILED).write(file);
        JsonNode all = JSON.readTree(file.toFile());
        assertThat(all.get("passed").asBoolean()).isFalse();
        JsonNode stage = all.get("stages").get(0);
        assertThat(stage.get("name").asText()).isEqualTo("measurements");
        assertThat(stage.get("outcome").asText()).isEqualTo("failed");
        assertThat(stage.get("seconds").asDouble()).isEqualTo(1.25);
        assertThat(stage.get("reason").asText()).isEqualTo("exit code 1: it broke");
        assertThat(stage.get("figures")).hasSize(4);
        assertThat(stage.get("tail").get(0).asText()).isEqualTo("last words");
        assertThat(all.get("goals")).hasSize(6);
        assertThat(all.get("goals").get(1).get("met").asBoolean()).isFalse();
    }

    @Test
    void shouldPrintATable() {
        assertThat(report(false, Outcome.FAILED).table())
                .contains("measurements               failed        1.3  exit code 1: it broke")
                .contains("  mlp bf16 8192 x")
                .contains("MISSED");
        assertThat(report(true, Outcome.PASSED).passed()).isTrue();
        assertThat(report(true, Outcome.PASSED).table()).doesNotContain("MISSED"); // speed of a simulation says nothing
        assertThat(report(true, Outcome.SKIPPED).passed()).isTrue();
        assertThat(report(true, Outcome.NO_TIME).passed()).isFalse();
    }
}
