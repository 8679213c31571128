package org.tp4j.cuda.internal.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.tensor.DType;

/**
 * The offline compiler takes the kernels too, for a GPU of each generation, where it is installed. Every source is compiled
 * once to the instructions common to all and assembled for each; no source asks which generation it is compiled for.
 */
class NvccTest {
    private static final long TIMEOUT_S = 300;
    private static final String GENERATIONS = "sm_80,sm_90,sm_100";

    @TempDir
    Path work;

    private record Compiled(int exitCode, String output) {}

    /** One type for each source, since a minute is enough; {@link RealLibrariesTest} goes through all of them. */
    static Stream<Arguments> sourcesAndTypes() throws IOException, URISyntaxException {
        return RealLibrariesTest.sourcesAndTypes().filter(arguments -> {
            DType type = (DType) arguments.get()[1];
            return type == (arguments.get()[0].equals("ids.cu") ? DType.INT64 : DType.BFLOAT16);
        });
    }

    @ParameterizedTest
    @MethodSource("sourcesAndTypes")
    void shouldCompileEveryKernel(String name, DType type) throws Exception {
        for (Map.Entry<String, String> header : KernelSources.headers(type).entrySet()) {
            Files.writeString(work.resolve(header.getKey()), header.getValue());
        }
        Path source = Files.writeString(work.resolve(name), KernelSources.text(name));
        Compiled compiled = compile(source, KernelSources.defines(type));
        assertThat(compiled.exitCode()).as(compiled.output()).isZero();
        assertThat(compiled.output()).doesNotContain("warning");
        assertThat(work.resolve("kernels.fatbin")).isNotEmptyFile();
    }

    @Test
    void shouldSayWhatDoesNotCompile() throws Exception {
        Path bad = Files.writeString(work.resolve("bad.cu"), "__global__ void f(int* x) { *x = nosuch; }");
        Compiled compiled = compile(bad, List.of());
        assertThat(compiled.exitCode()).isNotZero();
        assertThat(compiled.output()).contains("nosuch");
    }

    private Compiled compile(Path source, List<String> defines) throws IOException, InterruptedException {
        Optional<Path> compiler = compiler();
        assumeThat(compiler).as("nvcc on the path or under /usr/local").isPresent();
        List<String> command = new ArrayList<>(List.of(
                compiler.get().toString(),
                "-std=c++17",
                "-fatbin",
                "-Xptxas",
                "-O1",
                "-gencode",
                "arch=compute_80,code=[" + GENERATIONS + "]",
                "-o",
                work.resolve("kernels.fatbin").toString()));
        defines.forEach(define -> command.add("-D" + define));
        command.add(source.toString());
        Path output = work.resolve("output");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
            throw new IllegalStateException("nvcc is not finished after " + TIMEOUT_S + " s");
        }
        return new Compiled(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    }

    private static Optional<Path> compiler() throws IOException {
        List<Path> places = new ArrayList<>();
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            places.add(Path.of(folder, "nvcc"));
        }
        Path local = Path.of("/usr/local");
        if (Files.isDirectory(local)) {
            try (Stream<Path> folders = Files.list(local)) {
                folders.filter(folder -> folder.getFileName().toString().startsWith("cuda"))
                        .sorted()
                        .forEach(folder -> places.add(folder.resolve("bin").resolve("nvcc")));
            }
        }
        return places.stream().filter(Files::isExecutable).findFirst();
    }
}
