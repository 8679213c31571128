package org.tp4j.tests.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The dry run: a bundle is made and the check runs from it on simulated devices, with one stage that is made to fail. The
 * check's own Java runtime and jars are used, so what is missing in the bundle shows.
 */
class GpuCheckIT {
    private static final Path ROOT = Path.of(System.getProperty("tp.root"));
    private static final String SIMULATOR = System.getProperty("tp4j.cuda.simulator", "");
    private static final long BUNDLE_SECONDS = 240;
    private static final int CHECK_SECONDS = 240; // on a machine with much else to do; alone it takes a quarter
    private static final Set<String> CASES = Set.of("mlp_gelu", "ce_mean", "opt_sgd");
    private static final String PLANTED = "conformance T=2";
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @BeforeEach
    void needsTools() throws Exception {
        assumeTrue(
                Files.exists(Path.of(SIMULATOR, "libcuda.so.1")), "no simulated CUDA: it is built where there is g++");
        for (String tool : List.of("bash", "tar", "xz")) {
            int code =
                    new ProcessBuilder("sh", "-c", "command -v " + tool).start().waitFor();
            assumeTrue(code == 0, "no " + tool);
        }
        assumeTrue(Files.isDirectory(Path.of(System.getProperty("java.home"), "jmods")), "a Java without jmods");
    }

    @Test
    void shouldMakeABundleAndCheckFromIt() throws Exception {
        Path bundle = folder.resolve("bundle");
        String made = run(
                BUNDLE_SECONDS,
                0,
                Map.of("TP4J_BUILT", "1", "XZ_OPT", "-0 -T0"),
                "gpu-bundle.sh",
                "--golden",
                fewCases().toString(),
                "--to",
                bundle.toString(),
                "--without-openblas");
        assertThat(made).containsPattern("\\d+ bytes in " + bundle);
        JsonNode manifest = JSON.readTree(bundle.resolve("manifest.json").toFile());
        assertThat(manifest.get("golden_cases").asInt()).isEqualTo(CASES.size());
        assertThat(manifest.get("bytes").get("java.tar.xz").asLong()).isPositive();

        Path out = folder.resolve("out");
        String printed = run(
                CHECK_SECONDS + 60,
                1, // for the stage that is made to fail
                Map.of(GpuCheckMain.PLANT, PLANTED, "JAVA_HOME", "/no/jdk/here", "PATH", "/usr/bin:/bin"),
                "gpu-check.sh",
                "--simulate",
                "--bundle",
                bundle.toString(),
                "--out",
                out.toString(),
                "--seconds",
                String.valueOf(CHECK_SECONDS));

        try (var files = Files.list(out)) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("gpu-check.json", "gpu-check.log", "gpu-check.txt");
        }
        JsonNode result = JSON.readTree(out.resolve("gpu-check.json").toFile());
        String log = Files.readString(out.resolve("gpu-check.log"));
        assertThat(result.get("simulated").asBoolean()).isTrue();
        assertThat(result.get("passed").asBoolean()).isFalse();
        assertThat(result.get("bundle")).isEqualTo(manifest);
        Map<String, String> outcomes = new HashMap<>();
        result.get("stages")
                .forEach(stage -> outcomes.put(
                        stage.get("name").asText(), stage.get("outcome").asText()));
        assertThat(outcomes).as(printed + log).containsEntry(PLANTED, "failed");
        outcomes.remove(PLANTED);
        assertThat(outcomes.remove("PyTorch compiles ahead")).as(log).isIn("passed", "skipped");
        assertThat(outcomes).as(printed + log).hasSizeGreaterThan(8);
        assertThat(outcomes.values()).as(printed + log).containsOnly("passed");

        JsonNode planted = stage(result, PLANTED);
        assertThat(planted.get("reason").asText()).contains("exit code 2", "Unknown option", "--planted-failure");
        assertThat(stage(result, "conformance T=1")
                        .get("figures")
                        .get(0)
                        .get("passed")
                        .asInt())
                .isEqualTo(CASES.size());
        assertThat(measures(stage(result, "measurements")))
                .contains("sides", "mlp", "op", "product", "copy", "kernel")
                .doesNotContain("failed", "skipped");
        assertThat(printed.lines()).anyMatch(line -> line.matches("device +passed +[0-9.]+ +1 passed"));
        assertThat(printed).contains("On SIMULATED devices.").contains("1 not passed");
    }

    @Test
    void shouldSayWhatIsMissing() throws Exception {
        assertThat(run(60, 2, Map.of(), "gpu-check.sh", "--bundle", folder.toString()))
                .contains("holds no manifest.json", "HINT:", "scripts/gpu-bundle.sh");
        assertThat(run(60, 2, Map.of(), "gpu-bundle.sh", "--golden", folder.toString()))
                .contains("holds no index.json", "HINT:");
        assertThat(run(60, 2, Map.of(), "gpu-check.sh", "--seconds", "soon")).contains("--seconds is 'soon'", "HINT:");
    }

    private static JsonNode stage(JsonNode result, String name) {
        for (JsonNode stage : result.get("stages")) {
            if (stage.get("name").asText().equals(name)) {
                return stage;
            }
        }
        throw new AssertionError("no stage " + name + " in " + result);
    }

    private static List<String> measures(JsonNode stage) {
        List<String> measures = new ArrayList<>();
        stage.get("figures")
                .forEach(figure -> measures.add(figure.path("measure").asText()));
        return measures;
    }

    /** A folder with few of the vectors, so that the run is short. */
    private Path fewCases() throws IOException {
        Path all = Path.of("src/test/resources/golden");
        Path few = Files.createDirectories(folder.resolve("golden"));
        ArrayNode index = JSON.createArrayNode();
        for (JsonNode entry : JSON.readTree(all.resolve("index.json").toFile())) {
            String name = entry.get("name").asText();
            if (CASES.contains(name)) {
                index.add(entry);
                Files.copy(all.resolve(name + ".safetensors"), few.resolve(name + ".safetensors"));
            }
        }
        assertThat(index).hasSize(CASES.size());
        JSON.writeValue(few.resolve("index.json").toFile(), index);
        return few;
    }

    /** Runs a script and returns what it prints; its exit code must be the one expected. */
    private String run(long seconds, int expected, Map<String, String> environment, String script, String... arguments)
            throws Exception {
        List<String> command = new ArrayList<>(
                List.of("bash", ROOT.resolve("scripts").resolve(script).toString()));
        command.addAll(List.of(arguments));
        Path log = Files.createTempFile(folder, script, ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        String printed = Files.readString(log);
        assertThat(process.exitValue()).as(printed).isEqualTo(expected);
        return printed;
    }
}
