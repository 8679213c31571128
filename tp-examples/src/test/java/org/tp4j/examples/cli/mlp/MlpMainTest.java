package org.tp4j.examples.cli.mlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.examples.cli.CommandResult;
import org.tp4j.tensor.Backends;

/** The command with its default settings, and invalid arguments. */
class MlpMainTest {
    @TempDir
    private static Path folder;

    private static CommandResult whole;
    private static JsonNode metrics;

    @BeforeAll
    static void runWithDefaults() throws Exception {
        Path json = folder.resolve("m.json");
        whole = run("--check", "--metrics", json.toString());
        assertThat(whole.code()).as(whole.toString()).isZero();
        metrics = new ObjectMapper().readTree(json.toFile());
    }

    private static CommandResult run(String... arguments) {
        return CommandResult.of(() -> MlpMain.run(arguments));
    }

    @Test
    void shouldReachThePromisedAccuracy() {
        assertThat(metrics.get("accuracy").asDouble()).isBetween(0.96, 1.0);
    }

    @Test
    void shouldPrintSettingsPlanAndProgress() {
        assertThat(whole.out())
                .contains("2, threads of this JVM")
                .contains("71,370 parameters, float32")
                .containsPattern("blocks\\.\\*\\.up_proj +ColwiseParallel +weight +\\[256, 64\\] +Shard\\(0\\)")
                .containsPattern("blocks\\.\\*\\.down_proj +RowwiseParallel +weight +\\[64, 256\\] +Shard\\(1\\)")
                .contains("rows 0-127, 128-255")
                .contains("epoch 15/15")
                .containsPattern("accuracy +0\\.9[6-9]\\d\\d on 355 held-out images")
                .contains("samples per second")
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
                "--launcher mpi       | HINT: start it with scripts/run-mlp.sh, or with mpirun -np 2",
                "--no-such-option     | Unknown option: '--no-such-option'",
            })
    void shouldRefuseInvalidArguments(String arguments, String message) {
        CommandResult refused = run(arguments.split(" "));
        assertThat(refused.code()).isEqualTo(2);
        assertThat(refused.err()).startsWith("run-mlp.sh: ").contains(message).contains("HINT: ");
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void shouldRefuseUnwritableFilesBeforeTraining() {
        CommandResult refused = run("--metrics", folder.resolve("none/m.json").toString());
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err())
                .contains("--metrics")
                .contains("there is no folder")
                .contains("HINT: mkdir -p");
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void shouldExplainWhyCudaIsUnavailable() {
        String problem = Backends.availability().get("cuda");
        assumeFalse("".equals(problem), "this machine has CUDA");
        CommandResult refused = run("--device", "cuda");
        assertThat(refused.code()).isEqualTo(1);
        assertThat(refused.err()).contains("--device cuda cannot be used here").contains("HINT: ");
        assertThat(refused.err().lines().filter(line -> line.startsWith("\tat ")))
                .isEmpty();
        assertThat(refused.out()).isEmpty();
    }

    @Test
    void shouldPrintHelp() {
        CommandResult help = run("--help");
        assertThat(help.code()).isZero();
        assertThat(help.out())
                .contains(
                        "--ranks", "--launcher", "--device", "--dtype", "--epochs", "--check", "--report", "--metrics")
                .contains("mpirun -np 4");
    }
}
