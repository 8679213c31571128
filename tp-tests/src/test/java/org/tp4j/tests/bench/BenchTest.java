package org.tp4j.tests.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The benchmarks run and print the fields that are compared; the numbers themselves are not checked. */
class BenchTest {
    private static JsonNode run(String... arguments) throws Exception {
        StringWriter out = new StringWriter();
        int code = new CommandLine(new BenchMain())
                .setOut(new PrintWriter(out, true))
                .execute(arguments);
        assertThat(code).isZero();
        assertThat(out.toString().lines()).hasSize(1);
        return new ObjectMapper().readTree(out.toString());
    }

    @Test
    void shouldMeasureAStepOfTheMlp() throws Exception {
        JsonNode line = run(
                "mlp",
                "--ranks",
                "2",
                "--launcher",
                "threads",
                "--tokens",
                "8",
                "--d-model",
                "6",
                "--d-ff",
                "9",
                "--steps",
                "3",
                "--warmup",
                "1",
                "--jvm-warmup",
                "2");
        assertThat(line.fieldNames())
                .toIterable()
                .containsExactly(
                        "system",
                        "version",
                        "device",
                        "dtype",
                        "tp",
                        "tokens",
                        "d_model",
                        "d_ff",
                        "step_ms",
                        "min_ms",
                        "max_ms",
                        "tokens_per_s",
                        "gflops",
                        "launcher",
                        "gemm_share",
                        "gemm_floor_ms",
                        "agreement_share");
        assertThat(line.get("system").asText()).isEqualTo("tp4j");
        assertThat(line.get("tp").asInt()).isEqualTo(2);
        assertThat(line.get("launcher").asText()).isEqualTo("threads");
        assertThat(line.get("step_ms").asDouble())
                .isBetween(line.get("min_ms").asDouble(), line.get("max_ms").asDouble());
        assertThat(line.get("gemm_share").asDouble()).isBetween(0.0, 1.0);
    }

    @Test
    void shouldMeasureOperations() throws Exception {
        JsonNode line = run("op", "--warmup-ms", "5", "--calls", "20");
        assertThat(line.fieldNames()).toIterable().contains("system", "version", "warmup_rounds");
        for (String name : List.of("add", "matmul", "dtensor_add", "dtensor_matmul", "chain", "dtensor_chain")) {
            assertThat(line.get(name + "_us").asDouble())
                    .isBetween(
                            line.get(name + "_min_us").asDouble(),
                            line.get(name + "_max_us").asDouble());
            assertThat(line.get(name + "_min_us").asDouble()).isPositive();
        }
    }

    @Test
    void shouldRefuseAnUnknownType() {
        StringWriter err = new StringWriter();
        int code = new CommandLine(new BenchMain())
                .setErr(new PrintWriter(err, true))
                .execute("mlp", "--ranks", "1", "--dtype", "fp8");
        assertThat(code).isNotZero();
        assertThat(err.toString()).contains("--dtype is fp8", "HINT: fp32, bf16 or fp64");
    }
}
