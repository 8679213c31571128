package org.tp4j.examples.cli.mlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.comm.launch.Launch;

/** The script, run as separate processes. */
class RunMlpScriptTest {
    private static final Path SCRIPT = Path.of(System.getProperty("tp.root", ".."), "scripts/run-mlp.sh");
    private static final long TIMEOUT_SECONDS = 180;
    private static final double ROUNDING = 1e-4; // of losses, in float32 after one epoch

    @TempDir
    private Path folder;

    /**
     * The result of a script.
     *
     * @param code exit code
     * @param text output and error output
     */
    private record ScriptResult(int code, String text) {}

    private ScriptResult run(List<String> command) throws Exception {
        Path log = folder.resolve("log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        Map<String, String> environment = builder.environment();
        environment.put("TP4J_CLASSPATH", System.getProperty("java.class.path")); // skips the build
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("OMPI_ALLOW_RUN_AS_ROOT", "1");
        environment.put("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        Process process = builder.start();
        boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        String text = Files.readString(log);
        assertThat(ended)
                .as("ended within " + TIMEOUT_SECONDS + " s; its output:\n" + text)
                .isTrue();
        return new ScriptResult(process.exitValue(), text);
    }

    private static void assumeMpi() {
        String problem = Launch.availability().get("mpi");
        assumeTrue("".equals(problem), "no MPI here: " + problem);
        assumeTrue(
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(entry -> Files.isExecutable(Path.of(entry, "mpirun"))),
                "no mpirun on the path");
    }

    private static List<String> mpirun(int processes) {
        String number = Integer.toString(processes);
        return List.of(
                "mpirun", "-np", number, "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1");
    }

    private JsonNode train(List<String> starter, String... more) throws Exception {
        Path metrics = folder.resolve("m.json");
        List<String> command = new ArrayList<>(starter);
        command.addAll(List.of(SCRIPT.toString(), "--epochs", "1", "--metrics", metrics.toString()));
        command.addAll(List.of(more));
        ScriptResult result = run(command);
        assertThat(result.code).as(result.text).isZero();
        assertThat(result.text.split("accuracy   0", -1))
                .as("rank 0 alone prints:\n" + result.text)
                .hasSize(2);
        return new ObjectMapper().readTree(metrics.toFile());
    }

    @Test
    void shouldTrainTheSameWithThreadsAndProcesses() throws Exception {
        assumeMpi();
        JsonNode threads = train(List.of(), "--ranks", "3");
        JsonNode processes = train(mpirun(3), "--check");

        assertThat(threads.get("launcher").asText()).isEqualTo("threads");
        assertThat(processes.get("launcher").asText()).isEqualTo("mpi");
        assertThat(processes.get("ranks").asInt()).isEqualTo(3);
        assertThat(processes.get("check").get("passed").asBoolean()).isTrue();
        for (int i = 0; i < 23; i++) {
            assertThat(processes.get("step_losses").get(i).asDouble())
                    .isCloseTo(threads.get("step_losses").get(i).asDouble(), within(ROUNDING));
        }
    }

    @Test
    void shouldStartProcesses() throws Exception {
        assumeMpi();
        JsonNode metrics = train(List.of(), "--launcher", "mpi", "--ranks", "2");
        assertThat(metrics.get("launcher").asText()).isEqualTo("mpi");
        assertThat(metrics.get("ranks").asInt()).isEqualTo(2);
    }

    @Test
    void shouldReportInvalidArgumentsOnce() throws Exception {
        assumeMpi();
        List<String> command = new ArrayList<>(mpirun(2));
        command.addAll(List.of(SCRIPT.toString(), "--ranks", "3"));
        ScriptResult result = run(command);
        assertThat(result.code).as(result.text).isEqualTo(2);
        assertThat(result.text).containsOnlyOnce("--ranks is 3, but 2 processes were started; HINT: leave --ranks out");
    }
}
