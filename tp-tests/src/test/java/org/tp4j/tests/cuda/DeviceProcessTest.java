package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
                .contains("out of memory on cuda:0: asked for 4194304 bytes (1048576 float32 elements)")
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
                .contains("device cuda:2 was asked for, but the driver sees 2 devices (cuda:0 to cuda:1)")
                .contains("HINT: start at most 2 ranks a machine");
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
