package org.tp4j.cudasim;

import static jcuda.driver.JCudaDriver.*;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import jcuda.driver.CUmodule;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cuda.CudaLibraries;

class SimulatorNvrtcTest {
    private static final String GOOD = "extern \"C\" __global__ void f(float* x) { *x = VALUE; }";

    @BeforeEach
    void load() {
        SimulatorProcess.assumeSimulator();
        CudaLibraries.load();
    }

    @Test
    void theCompilersLogNamesTheLine() {
        Nvrtc.Compiled compiled = Nvrtc.compile("\n\nextern \"C\" __global__ void f(float* x) { *x = nosuch; }\n");
        assertThat(compiled.result()).isEqualTo("NVRTC_ERROR_COMPILATION");
        assertThat(compiled.log()).contains("probes.cu:3:", "nosuch");
        assertThat(compiled.cubin()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--no-such-option", "--gpu-architecture=sm_91", "--fmad=maybe", "--std=c++98", "-O3"})
    void unknownOptionsAreRefused(String option) {
        Nvrtc.Compiled compiled = Nvrtc.compile(GOOD, "--define-macro=VALUE=1", option);
        assertThat(compiled.result()).isEqualTo("NVRTC_ERROR_INVALID_OPTION");
        assertThat(compiled.log()).contains(option);
    }

    @Test
    void onlyARealArchitectureGivesACubin() {
        assertThat(Nvrtc.compile(GOOD, "-DVALUE=1", "--gpu-architecture=sm_90", "--std=c++17", "--fmad=false")
                        .cubin())
                .isNotEmpty();
        assertThat(Nvrtc.compile(GOOD, "-DVALUE=1", "--gpu-architecture=compute_90")
                        .cubin())
                .isEmpty();
    }

    @Test
    void aCubinRunsOnItsArchitectureOnly() {
        try (Device device = new Device(2)) {
            byte[] older =
                    Nvrtc.compile(GOOD, "-DVALUE=1", "--gpu-architecture=sm_80").cubin();
            assertThat(cuModuleLoadData(new CUmodule(), older)).isEqualTo(CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU);
            byte[] ptx = "//\n.version 8.5\n.target sm_90\n\0".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
            assertThat(cuModuleLoadData(new CUmodule(), ptx)).isEqualTo(CUresult.CUDA_ERROR_INVALID_PTX);
        }
    }

    /** Processes that start together: each source is compiled once, and all get the same bytes. */
    @Test
    void theCacheServesProcessesThatStartTogether(@TempDir Path cache) throws IOException {
        Map<String, String> environment = Map.of("CUSIM_CACHE", cache.toString());
        List<SimulatorProcess> processes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            processes.add(SimulatorProcess.start(environment, "compile", "3", "together"));
        }
        List<List<String>> seen = new ArrayList<>();
        for (SimulatorProcess process : processes) {
            SimulatorProcess.Result result = process.await();
            assertThat(result.exitCode()).as(result.output()).isZero();
            seen.add(result.output()
                    .lines()
                    .filter(line -> line.startsWith("compiled"))
                    .toList());
        }
        assertThat(seen.get(0)).hasSize(3).allMatch(line -> line.contains("NVRTC_SUCCESS"));
        assertThat(seen).containsOnly(seen.get(0));
        try (Stream<Path> files = Files.list(cache)) {
            assertThat(files.map(Path::toString).filter(name -> !name.endsWith(".lock")))
                    .as("three libraries, and no folder of work")
                    .hasSize(3)
                    .allMatch(name -> name.endsWith(".so"));
        }
    }
}
