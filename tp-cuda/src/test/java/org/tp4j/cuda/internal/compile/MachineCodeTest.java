package org.tp4j.cuda.internal.compile;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.tensor.DType;

/** What the compiler makes of kernels whose speed is that of memory: wide stores, registers, no spills. */
class MachineCodeTest {
    private static final Pattern SPILLS = Pattern.compile("(\\d+) bytes spill stores");
    private static final Pattern REGISTERS = Pattern.compile("entry function '(\\w+)'(?s:.*?)Used (\\d+) registers");

    /** Kernels that store 16 bytes at a time, or 8 where a thread has no more, by source. */
    private static final Map<String, Map<String, Integer>> STORES = Map.of(
            "optimizer.cu", Map.of("adam", 16, "sgd", 16),
            "norm.cu", Map.of("normalize", 16, "normalizeLong", 16, "normGrad", 16, "normGradLong", 16),
            "softmax.cu", Map.of("softmax", 16, "softmaxLong", 16, "softmaxGrad", 16, "crossEntropyGrad", 16),
            "random.cu", Map.of("uniform", 8, "normal", 8, "dropout", 8),
            "embedding.cu", Map.of("gatherRows", 16),
            "fused.cu", Map.of("biasActivation", 16, "biasActivationGrad", 16, "gated", 16, "gatedGrad", 16));

    @TempDir
    Path folder;

    static Stream<Arguments> sourcesAndDevices() {
        return STORES.keySet().stream()
                .sorted()
                .flatMap(source -> Stream.of(80, 90, 100).map(capability -> Arguments.of(source, capability)));
    }

    @ParameterizedTest
    @MethodSource("sourcesAndDevices")
    void shouldStoreWidelyAndKeepValuesInRegisters(String source, int capability) throws Exception {
        Path cubin = folder.resolve("kernels.cubin");
        Nvcc.Compiled compiled = new Nvcc(folder)
                .compile(
                        source,
                        DType.BFLOAT16,
                        "-cubin",
                        "-arch=sm_" + capability,
                        "-Xptxas",
                        "-v",
                        "-o",
                        cubin.toString());
        assertThat(compiled.exitCode()).as(compiled.output()).isZero();
        Map<String, Map<Integer, Integer>> stores = new Cubin(cubin).stores();
        STORES.get(source)
                .forEach((kernel, width) -> assertThat(stores.get(kernel))
                        .as("stores of " + kernel + " by their bytes")
                        .containsKey(width));
        Matcher spills = SPILLS.matcher(compiled.output());
        while (spills.find()) {
            assertThat(spills.group(1)).as(compiled.output()).isEqualTo("0");
        }
        Matcher registers = REGISTERS.matcher(compiled.output());
        int kernels = 0;
        while (registers.find()) {
            kernels++;
            int threads = source.equals("fused.cu") || source.equals("random.cu") || source.equals("optimizer.cu")
                    ? 256
                    : KernelConstants.MOST_THREADS;
            assertThat(Integer.parseInt(registers.group(2)))
                    .as("registers of " + registers.group(1) + ", of which a block needs all to be resident")
                    .isLessThanOrEqualTo(65536 / threads);
        }
        assertThat(kernels).isEqualTo(stores.size());
    }

    @ParameterizedTest
    @ValueSource(ints = {80, 90, 100})
    void shouldTellHowWideStoresAre(int capability) throws Exception {
        Path source = Files.writeString(
                folder.resolve("widths.cu"),
                "extern \"C\" __global__ void widths(float4* a, float2* b, float* c, short* d, char* e) {"
                        + " *a = make_float4(1, 2, 3, 4); *b = make_float2(1, 2); *c = 1; *d = 1; *e = 1; }");
        Path cubin = folder.resolve("widths.cubin");
        Nvcc.Compiled compiled =
                new Nvcc(folder).compile(source, List.of("-cubin", "-arch=sm_" + capability, "-o", cubin.toString()));
        assertThat(compiled.exitCode()).as(compiled.output()).isZero();
        assertThat(new Cubin(cubin).stores()).isEqualTo(Map.of("widths", Map.of(1, 1, 2, 1, 4, 1, 8, 1, 16, 1)));
    }
}
