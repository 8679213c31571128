package org.tp4j.tests.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.comm.launch.Launch;

/** The runners as their scripts start them: processes under mpirun. Skipped where there is no MPI. */
class ScriptsUnderMpiTest {
    private static final Path ROOT = Path.of(System.getProperty("tp.root"));
    private static final long TIMEOUT_SECONDS = 180; // a JVM or four on a busy machine; a hang ends here

    @TempDir
    Path folder;

    @BeforeAll
    static void needsMpi() {
        boolean onPath = Stream.of(System.getenv("PATH").split(":"))
                .anyMatch(place -> Files.isExecutable(Path.of(place, "mpirun")));
        assumeTrue(onPath, "there is no mpirun on the path");
        String unavailable = Launch.availability().get("mpi");
        assumeTrue("".equals(unavailable), "MPI cannot be used: " + unavailable);
    }

    private List<String> run(String script, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(
                List.of("bash", ROOT.resolve("scripts/" + script).toString()));
        command.addAll(List.of(arguments));
        Path out = folder.resolve("out");
        Path err = folder.resolve("err");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().put("TP4J_CLASSPATH", System.getProperty("java.class.path"));
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        Process process = builder.start();
        boolean ended = process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
        String all = Files.readString(out) + Files.readString(err);
        assertThat(ended).as("ends within %d s:%n%s", TIMEOUT_SECONDS, all).isTrue();
        assertThat(process.exitValue()).as(all).isZero();
        return Files.readAllLines(out);
    }

    @Test
    void shouldRunTheReferenceVectorsOnProcesses() throws Exception {
        String golden = Path.of("src/test/resources/golden").toAbsolutePath().toString();
        List<String> lines = run("conformance.sh", golden, "--launcher", "mpi", "--ranks", "1,3");
        assertThat(lines).last().asString().matches("[1-9]\\d* passed, 0 failed, 0 skipped");
        assertThat(lines).anyMatch(line -> line.startsWith("PASS mlp_uneven T=3 "));
    }

    @Test
    void shouldMeasureAStepOnProcesses() throws Exception {
        List<String> lines = run(
                "bench.sh",
                "mlp",
                "--launcher",
                "mpi",
                "--ranks",
                "2",
                "--tokens",
                "8",
                "--d-model",
                "4",
                "--d-ff",
                "6",
                "--steps",
                "2",
                "--warmup",
                "1",
                "--jvm-warmup",
                "2");
        assertThat(lines).hasSize(1);
        JsonNode line = new ObjectMapper().readTree(lines.get(0));
        assertThat(line.get("launcher").asText()).isEqualTo("mpi");
        assertThat(line.get("tp").asInt()).isEqualTo(2);
    }
}
