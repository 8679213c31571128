package org.tp4j.cuda.internal.compile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    private static final String GENERATIONS = "sm_80,sm_90,sm_100";

    @TempDir
    Path work;

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
        Path kernels = work.resolve("kernels.fatbin");
        Nvcc.Compiled compiled = new Nvcc(work)
                .compile(
                        name,
                        type,
                        "-fatbin",
                        "-Xptxas",
                        "-O1",
                        "-gencode",
                        "arch=compute_80,code=[" + GENERATIONS + "]",
                        "-o",
                        kernels.toString());
        assertThat(compiled.exitCode()).as(compiled.output()).isZero();
        assertThat(compiled.output()).doesNotContain("warning");
        assertThat(kernels).isNotEmptyFile();
    }

    @Test
    void shouldSayWhatDoesNotCompile() throws Exception {
        Path bad = Files.writeString(work.resolve("bad.cu"), "__global__ void f(int* x) { *x = nosuch; }");
        Nvcc.Compiled compiled = new Nvcc(work)
                .compile(
                        bad, List.of("-fatbin", "-o", work.resolve("bad.fatbin").toString()));
        assertThat(compiled.exitCode()).isNotZero();
        assertThat(compiled.output()).contains("nosuch");
    }
}
