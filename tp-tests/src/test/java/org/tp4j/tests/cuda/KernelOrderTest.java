package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tests.gpu.DeviceTestRunner;

/**
 * The kernels whose threads work together give the same results in whatever order the threads of a block and the blocks run.
 * A barrier that is missing among them shows in one order or another, though all may be well in the usual one.
 */
class KernelOrderTest {
    private static final long LIMIT_S = 240;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"reverse", "shuffle"})
    void shouldNotDependOnTheOrderOfThreads(String order) throws Exception {
        OnCuda.device();
        Path log = folder.resolve("log");
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--add-modules",
                        "jdk.incubator.vector",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-D" + CudaLibraries.SIMULATOR + "=" + System.getProperty(CudaLibraries.SIMULATOR),
                        "-Dtp4j.cuda.kernelCache=" + System.getProperty("tp4j.cuda.kernelCache"),
                        DeviceTestRunner.class.getName(),
                        tests("SoftmaxKernelsTest"),
                        tests("NormKernelsTest"),
                        tests("ReductionKernelsTest")))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().put("CUSIM_ORDER", order);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS))
                    .as("the tests have ended")
                    .isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        assertThat(Files.readString(log)).containsPattern("\"passed\":[1-9]");
    }

    private String tests(String name) {
        return getClass().getPackageName() + ":" + name;
    }
}
