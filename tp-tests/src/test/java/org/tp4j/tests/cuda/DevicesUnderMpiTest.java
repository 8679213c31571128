package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.examples.cli.mlp.MlpMain;
import org.tp4j.tests.comm.MpiRun;
import org.tp4j.tests.conformance.ConformanceMain;

/** One process a device, joined by NCCL: the reference vectors, and the example with the CPU's losses. */
class DevicesUnderMpiTest {
    /** Sums in other orders, 46 steps long; in FLOAT32 2.4e-7 was seen. */
    private static final double LOSS_TOLERANCE = 5e-6;

    @TempDir
    private Path folder;

    @BeforeAll
    static void needsBoth() {
        MpiRun.assumeAvailable();
        OnCuda.device(1);
    }

    private static MpiRun onDevices(int ranks, Class<?> main) {
        return new MpiRun(ranks, main)
                .jvm(
                        property(CudaLibraries.SIMULATOR),
                        property("tp4j.cuda.kernelCache"),
                        "-Dtp4j.comm.timeoutSeconds=60");
    }

    private static String property(String name) {
        return "-D" + name + "=" + System.getProperty(name, "");
    }

    private JsonNode train(String device) throws IOException, InterruptedException {
        File metrics = folder.resolve(device + ".json").toFile();
        MpiRun.Result result = onDevices(2, MlpMain.class)
                .args("--device", device, "--epochs", "2", "--metrics", metrics.toString())
                .run();
        assertThat(result.exitCode()).as(result.output()).isZero();
        return new ObjectMapper().readTree(metrics);
    }

    @Test
    void shouldTrainToTheLossesOfTheCpu() throws Exception {
        JsonNode onDevices = train("cuda");
        JsonNode onCpu = train("cpu");
        assertThat(onDevices.get("device").asText()).isEqualTo("cuda");
        JsonNode losses = onDevices.get("step_losses");
        assertThat(losses.size()).isEqualTo(46);
        for (int step = 0; step < losses.size(); step++) {
            assertThat(losses.get(step).asDouble())
                    .as("step %d", step)
                    .isCloseTo(onCpu.get("step_losses").get(step).asDouble(), within(LOSS_TOLERANCE));
        }
    }

    @Test
    void shouldPassTheReferenceVectors() throws Exception {
        Path golden = Path.of(DevicesUnderMpiTest.class
                        .getResource("/golden/index.json")
                        .toURI())
                .getParent();
        MpiRun.Result result = onDevices(2, ConformanceMain.class)
                .args(golden.toString(), "--device", "cuda")
                .run();
        assertThat(result.exitCode()).as(result.output()).isZero();
        assertThat(result.output()).containsPattern("[1-9]\\d* passed, 0 failed, 0 skipped");
    }
}
