package org.tp4j.examples.mlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.examples.cli.Captured;
import org.tp4j.tensor.Backends;

/** The command as its users meet it: one run with the default settings, and what is refused. */
class MlpMainTest {
    @TempDir
    private static Path folder;

    private static Captured whole;
    private static JsonNode metrics;
    private static String report;

    @BeforeAll
    static void runWithDefaults() throws Exception {
        Path json = folder.resolve("m.json");
        Path html = folder.resolve("r.html");
        whole = run("--check", "--metrics", json.toString(), "--report", html.toString());
        assertThat(whole.code()).as(whole.toString()).isZero();
        metrics = new ObjectMapper().readTree(json.toFile());
        report = Files.readString(html);
    }

    private static Captured run(String... arguments) {
        return Captured.run(() -> MlpMain.run(arguments));
    }

    @Test
    void shouldReachTheAccuracyThatIsPromised() {
        assertThat(metrics.get("accuracy").asDouble()).isBetween(0.96, 1.0);
    }

    @Test
    void shouldSayWhatRunsAndHowItGoes() {
        assertThat(whole.out())
                .contains("2, threads of this JVM")
                .contains("71,370 parameters, float32")
                .containsPattern("blocks\\.\\*\\.up_proj +ColwiseParallel +weight +\\[256, 64\\] +Shard\\(0\\)")
                .containsPattern("blocks\\.\\*\\.down_proj +RowwiseParallel +weight +\\[64, 256\\] +Shard\\(1\\)")
                .contains("rows 0-127, 128-255")
                .contains("epoch 15/15")
                .containsPattern("accuracy +0\\.9[6-9]\\d\\d on 355 images")
                .contains("samples a second")
                .containsPattern("check +passed");
        assertThat(whole.err()).contains("training").contains("345/345 steps");
    }

    @Test
    void shouldWriteMetrics() {
        assertThat(metrics.get("losses")).hasSize(15);
        assertThat(metrics.get("final_loss").asDouble())
                .isEqualTo(metrics.get("losses").get(14).asDouble());
        assertThat(metrics.get("step_losses")).hasSize(345);
        assertThat(metrics.get("ranks").asInt()).isEqualTo(2);
        assertThat(metrics.get("launcher").asText()).isEqualTo("threads");
        assertThat(metrics.get("device").asText()).isEqualTo("cpu");
        assertThat(metrics.get("dtype").asText()).isEqualTo("fp32");
        assertThat(metrics.get("parameters").asLong()).isEqualTo(71_370);
        assertThat(metrics.get("seconds").asDouble()).isPositive();
        assertThat(metrics.get("samples_per_second").asDouble()).isPositive();
        assertThat(metrics.get("check").get("passed").asBoolean()).isTrue();
        assertThat(metrics.get("check").get("loss_difference").asDouble()).isLessThan(1e-4);
    }

    @Test
    void shouldWriteAReportThatLoadsNothing() {
        assertThat(report)
                .startsWith("<!DOCTYPE html>")
                .doesNotContain("<script")
                .doesNotContain("src=")
                .doesNotContain("@import")
                .doesNotContain("url(");
        assertThat(report).doesNotContain("http").contains("prefers-color-scheme: dark");
    }

    @Test
    void shouldReportCurvesLayoutPlanAndCommunication() {
        assertThat(report)
                .contains("Training loss", "Accuracy on held-out images", "T = 1")
                .contains("rank 0: rows 0-127", "rank 1: columns 128-255")
                .contains("\"blocks.*.up_proj\", new ColwiseParallel()", "new RowwiseParallel()")
                .contains("equal up to rounding")
                .contains("CC BY 4.0");
    }

    @Test
    void shouldReportOneAllReduceABlockAndDirection() {
        String step = report.substring(report.indexOf("<h2>Communication"), report.indexOf("The whole training"));
        String elements = "<td class=\"number\">4,096</td><td class=\"number\">16,384</td>";
        for (String row : List.of(
                "<td>forward</td>%s<code>blocks.0.down_proj</code>",
                "<td>forward</td>%s<code>blocks.1.down_proj</code>",
                "<td>backward</td>%s<code>blocks.1.up_proj</code>",
                "<td>backward</td>%s<code>blocks.0.up_proj</code>")) {
            String begin = row.formatted("<td><code>allReduce</code></td><td>sum</td><td>");
            assertThat(step)
                    .contains(begin + "</td><td>tp <span class=\"dim\">of 2</span></td><td>float32</td>" + elements);
        }
        assertThat(step.split("allReduce", -1)).hasSize(5);
    }

    @Test
    void shouldBeWellFormed() throws Exception {
        String body = report.substring(report.indexOf("<main>"), report.indexOf("</main>") + 7)
                .replace("&times;", "x")
                .replaceAll("<br>", "<br/>");
        DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--ranks 0            | --ranks is 0; it must be at least 1",
                "--ranks x            | '--ranks': 'x' is not an int",
                "--ranks 257          | at most 256 as threads",
                "--epochs 0           | --epochs is 0; it must be at least 1",
                "--batch 0            | --batch is 0; it must be between 1 and 1442",
                "--hidden -3          | --hidden is -3",
                "--dropout 1          | --dropout is 1.0; it must be at least 0 and below 1",
                "--learning-rate NaN  | --learning-rate is NaN",
                "--dtype fp8          | expected one of [fp32, bf16]",
                "--launcher slurm     | expected one of [threads, mpi]",
                "--device tpu         | expected one of [cpu, cuda]",
                "--launcher mpi       | HINT: start it by scripts/run-mlp.sh, or by mpirun -np 2",
                "--no-such-option     | Unknown option: '--no-such-option'",
            })
    void shouldRefuseWrongArguments(String arguments, String message) {
        Captured refused = run(arguments.split(" "));
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err()).startsWith("run-mlp.sh: ").contains(message).contains("HINT: ");
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void shouldRefuseFilesThatCannotBeWrittenBeforeItTrains() {
        Captured refused = run("--metrics", folder.resolve("none/m.json").toString());
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err())
                .contains("--metrics")
                .contains("there is no folder")
                .contains("HINT: mkdir -p");
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void shouldSayWhyThereIsNoCuda() {
        String problem = Backends.availability().get("cuda");
        assumeFalse("".equals(problem), "this machine has CUDA");
        Captured refused = run("--device", "cuda");
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err()).contains("--device cuda cannot be used here").contains("HINT: ");
        assertThat(refused.err().lines().filter(line -> line.startsWith("\tat ")))
                .isEmpty();
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void shouldExplainItself() {
        Captured help = run("--help");
        assertThat(help.code()).isZero();
        assertThat(help.out())
                .contains(
                        "--ranks", "--launcher", "--device", "--dtype", "--epochs", "--check", "--report", "--metrics")
                .contains("mpirun -np 4");
    }
}
