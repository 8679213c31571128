package org.tp4j.examples.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.examples.cli.CommandResult;

class DoctorMainTest {
    private static CommandResult result;

    @BeforeAll
    static void runDoctor() {
        result = CommandResult.of(() -> DoctorMain.run());
    }

    @Test
    void shouldReportThatTheCpuWorks() {
        assertThat(result.code()).as(result.toString()).isZero();
        assertThat(result.out())
                .containsPattern("ok +BLAS +OpenBLAS .*thread")
                .containsPattern("ok +product +768 x 768 float32: correct, [0-9.]+ GFLOP/s")
                .containsPattern("ok +ranks +2 threads all-reduce 4 MiB of float32: correct, [0-9.]+ ms")
                .containsPattern("yes +ranks as threads, on the CPU +scripts/run-mlp.sh");
    }

    @Test
    void shouldDescribeTheMachine() {
        assertThat(result.out())
                .containsPattern("ok +system +" + System.getProperty("os.name"))
                .containsPattern("ok +cores +" + Runtime.getRuntime().availableProcessors())
                .containsPattern("memory .* heap of this JVM")
                .contains("shared memory")
                .contains("locked memory")
                .containsPattern("JDK +" + Runtime.version().feature())
                .containsPattern("ok +Vector API +\\d+ bits");
    }

    @Test
    void shouldReportEveryOptionalComponent() {
        assertThat(result.out())
                .contains("C compiler", "Maven", "mpirun", "libmpi", "launcher mpi")
                .contains("driver", "libcublas.so.12", "libnvrtc.so.12", "libnccl.so.2", "device cuda");
    }

    @Test
    void shouldFitABugReport() {
        assertThat(result.out().lines().filter(line -> line.isBlank() || line.length() < 240))
                .hasSameSizeAs(result.out().lines().toList());
        assertThat(result.out()).doesNotContain("\u001b").doesNotContain("Exception");
        assertThat(result.err()).isEmpty();
    }

    @Test
    void shouldExpandStarsToExistingFolders(@TempDir Path folder) throws Exception {
        Files.createDirectories(folder.resolve("cuda-12.6/lib64"));
        Files.createDirectories(folder.resolve("cuda-13.0/lib64"));
        Files.createDirectories(folder.resolve("other/lib64"));
        assertThat(SharedLibraries.expand(folder + "/cuda*/lib64"))
                .containsExactly(folder.resolve("cuda-12.6/lib64"), folder.resolve("cuda-13.0/lib64"));
        assertThat(SharedLibraries.expand(folder + "/none*/lib64")).isEmpty();
    }
}
