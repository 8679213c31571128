package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cuda.CudaLibraries;

/** How a process that uses devices ends: what is wrong is one clear message, and nothing is left behind. */
class DeviceProcessTest {
    private static final long LIMIT_S = 120;

    @TempDir
    private Path folder;

    private record Running(Process process, Path log) {
        String output() throws IOException, InterruptedException {
            if (!process.waitFor(LIMIT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
            return Files.readString(log);
        }
    }

    private Running start(Map<String, String> environment, List<String> properties, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(properties);
        command.add(DeviceScenarios.class.getName());
        command.addAll(List.of(arguments));
        Path log = Files.createTempFile(folder, "process", ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        return new Running(builder.start(), log);
    }

    private static List<String> simulated(String... more) {
        OnCuda.device();
        List<String> properties = new ArrayList<>();
        for (String name : List.of(CudaLibraries.SIMULATOR, "tp4j.cuda.kernelCache")) {
            properties.add("-D" + name + "=" + System.getProperty(name));
        }
        properties.addAll(List.of(more));
        return properties;
    }

    @Test
    void shouldEndAtAKernelsFaultWithOneException() throws Exception {
        Running run = start(Map.of(), simulated(), "fault");
        assertThat(run.output())
                .contains("CUDA_ERROR_ILLEGAL_ADDRESS")
                .contains("an earlier kernel failed, and this process can use the device no more")
                .doesNotContain("done", "SIGSEGV", "hs_err");
        assertThat(run.process.exitValue()).isOne();
    }

    @Test
    void shouldSayWhoHoldsMemoryWhenThereIsNoMoreAndGoOnAfter() throws Exception {
        Running run = start(Map.of("CUSIM_MEM_MB", "64"), simulated(), "memory");
        assertThat(run.output())
                .contains("out of memory on cuda:0: asked for 4194304 bytes, 1048576 float32 elements;")
                .containsPattern("of 67108864 bytes are free")
                .containsPattern("scope 'step' holds 6\\d{7} bytes")
                .contains("HINT: use a smaller batch or more ranks")
                .contains("done");
        assertThat(run.process.exitValue()).isZero();
    }

    @Test
    void shouldNameAMissingDevice() throws Exception {
        Running none = start(Map.of("CUSIM_DEVICES", "0"), simulated(), "device", "0");
        assertThat(none.output()).contains("sees no device").contains("what does CUDA_VISIBLE_DEVICES say");
        Running wrong = start(Map.of("CUSIM_DEVICES", "2"), simulated(), "device", "2");
        assertThat(wrong.output())
                .contains("device cuda:2 was requested, but the driver sees 2 devices (cuda:0 to cuda:1)")
                .contains("HINT: start at most 2 ranks per machine");
        assertThat(wrong.process.exitValue()).isOne();
    }

    @Test
    void shouldSayThatThereIsNoDriver() throws Exception {
        OnCuda.device();
        Running run = start(Map.of(), List.of("-Dtp4j.cuda.driver=/nowhere/libcuda.so.1"), "device", "0");
        assertThat(run.output())
                .contains("the NVIDIA driver (libcuda.so.1) cannot be used; looked at: /nowhere/libcuda.so.1")
                .contains("HINT: install NVIDIA's driver");
        assertThat(run.process.exitValue()).isOne();
    }

    @Test
    void shouldLeaveNothingOnTheDevices() throws Exception {
        for (String[] program : new String[][] {{"train"}, {"ranks", "2"}}) {
            Running run = start(Map.of("CUSIM_LEAKS", "fatal"), simulated(), program);
            assertThat(run.output()).contains("done").doesNotContain("leak:");
            assertThat(run.process.exitValue()).isZero();
        }
    }

    /** A shutdown hook that released the device would take the streams from under the main thread. */
    @Test
    void shouldLeaveTheDeviceToTheDriverWhenAThreadStillLaunches() throws Exception {
        for (int i = 0; i < 3; i++) {
            Running run = start(Map.of(), simulated(), "signal");
            while (run.process.isAlive() && !Files.readString(run.log).contains("running")) {
                Thread.sleep(20);
            }
            run.process.destroy(); // SIGTERM, as Ctrl-C would end it
            assertThat(run.output()).doesNotContain("Exception", "CUDA_ERROR", "hs_err");
            assertThat(run.process.exitValue()).isEqualTo(128 + 15);
        }
    }

    @Test
    void shouldTakeLibrariesThatKnowTheDevice() throws Exception {
        Map<String, String> blackwell = Map.of("CUSIM_CAPABILITY", "100", "CUSIM_DRIVER_VERSION", "13000");
        Running old = start(blackwell, simulated(), "device", "0");
        assertThat(old.output())
                .containsPattern("libnvrtc.so.12: of CUDA 12.6, this GPU needs CUDA 12.8 or later")
                .contains("HINT: install the CUDA toolkit");
        Path both = cuda13();
        Path from = Path.of(System.getProperty(CudaLibraries.SIMULATOR));
        for (String name : List.of("libcublas.so.12", "libnvrtc.so.12")) {
            Files.copy(from.resolve(name), both.resolve(name));
        }
        Running newer = start(blackwell, List.of("-D" + CudaLibraries.SIMULATOR + "=" + both), "device", "0");
        assertThat(newer.output()).contains("done");
    }

    /** However far the device is behind the host, and its streams from each other, what comes out are the same bits. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void shouldComputeTheSameHoweverFarTheDeviceIsBehind(int seed) throws Exception {
        String inStep = losses(start(Map.of(), simulated(), "parallel"));
        Map<String, String> behind = Map.of("CUSIM_LAG_US", "5000", "CUSIM_SEED", String.valueOf(seed));
        assertThat(losses(start(behind, simulated("-Dtp4j.cuda.poison=true"), "parallel")))
                .isEqualTo(inStep);
    }

    private static String losses(Running run) throws Exception {
        String output = run.output();
        assertThat(output).contains("losses ", "done");
        return output.lines()
                .filter(line -> line.startsWith("losses "))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldLeaveMultiprocessorsFreeBesideProducts() throws Exception {
        Path trace = folder.resolve("trace");
        Map<String, String> traced = Map.of("CUSIM_TRACE", trace.toString());
        Running run = start(traced, simulated("-Dtp4j.cuda.gemmMultiprocessors=-1"), "train");
        assertThat(run.output()).contains("done");
        assertThat(Files.readAllLines(trace))
                .filteredOn(line -> line.contains("cublasGemmEx"))
                .isNotEmpty()
                .allMatch(line -> line.endsWith("multiprocessors=3"));
        Running none = start(Map.of(), simulated("-Dtp4j.cuda.gemmMultiprocessors=5"), "train");
        assertThat(none.output())
                .contains("-Dtp4j.cuda.gemmMultiprocessors=5 on a device of 4 multiprocessors")
                .contains("HINT: 1 to 4, or -1 to -3 to leave so many free");
    }

    /** A folder with the libraries of CUDA 13 alone: the simulated ones under CUDA 13's names. */
    private Path cuda13() throws IOException {
        OnCuda.device();
        Path from = Path.of(System.getProperty(CudaLibraries.SIMULATOR));
        Path to = Files.createDirectory(folder.resolve("cuda13"));
        Files.copy(from.resolve("libcuda.so.1"), to.resolve("libcuda.so.1"));
        Files.createSymbolicLink(to.resolve("include"), from.resolve("include"));
        for (String name : List.of("libcublas.so.1", "libnvrtc.so.1")) {
            // Soname and version node lie in the file as text of the same length.
            String content = Files.readString(from.resolve(name + "2"), StandardCharsets.ISO_8859_1);
            Files.writeString(
                    to.resolve(name + "3"), content.replace(name + "2", name + "3"), StandardCharsets.ISO_8859_1);
        }
        return to;
    }

    @Test
    void shouldWorkThroughTheForwardingLibrariesWhereThereIsCuda13Alone() throws Exception {
        List<String> properties =
                List.of("-D" + CudaLibraries.SIMULATOR + "=" + cuda13(), "-Dtp4j.cuda.kernelCache=none");
        String cache =
                Path.of(System.getProperty(CudaLibraries.SIMULATOR), "cache13").toString();
        Map<String, String> newDriver = Map.of("CUSIM_DRIVER_VERSION", "13000", "CUSIM_CACHE", cache);
        Running run = start(newDriver, properties, "train");
        assertThat(run.output()).contains("loss", "done").doesNotContain("tp4j: libcublas.so.13 has no");
        assertThat(run.process.exitValue()).isZero();

        Running old = start(Map.of("CUSIM_DRIVER_VERSION", "12060"), properties, "train");
        assertThat(old.output())
                .contains("cuBLAS and NVRTC cannot be used; looked at:")
                .contains("libraries of CUDA 13: not for a driver of CUDA 12.6")
                .contains("HINT: install the CUDA toolkit");
    }

    /** JCuda's natives and our kernels are written to disk by whoever comes first. */
    @Test
    void shouldStartSeveralProcessesTogetherOnEmptyFolders() throws Exception {
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Path cache = folder.resolve("cache");
        List<String> properties = simulated(
                "-Djava.io.tmpdir=" + temporary, "-Dtp4j.cuda.kernelCache=" + cache, "-Dtp4j.native.cache=" + cache);
        List<Running> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(start(Map.of(), properties, "train"));
        }
        for (Running run : all) {
            assertThat(run.output()).contains("done");
        }
        try (Stream<Path> left = Files.list(temporary)) {
            assertThat(left.filter(path -> path.getFileName().toString().startsWith("tp4j-jcuda")))
                    .isEmpty();
        }
        try (Stream<Path> kernels = Files.list(cache)) {
            assertThat(kernels.map(path -> path.getFileName().toString()))
                    .isNotEmpty()
                    .noneMatch(name -> name.endsWith(".tmp"));
        }
    }
}
