package org.tp4j.cuda.internal.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import jcuda.nvrtc.JNvrtc;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.cuda.internal.libraries.CudaToolkit;
import org.tp4j.cuda.internal.libraries.JCudaNatives;
import org.tp4j.cuda.internal.libraries.LibrarySearch;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.TpException;
import org.tp4j.tensor.internal.NativeLibrary;

/** NVIDIA's own NVRTC, where it and a driver are installed; compiling needs no GPU. */
class RealLibrariesTest {
    private static final int ANY_DRIVER = 99_000;
    private static final int ELF_MACHINE = 18;
    private static final int CUDA_MACHINE = 190;
    /** The sources that integers and truth values go through too. */
    private static final Set<String> OF_ALL_TYPES =
            Set.of("binary.cu", "broadcast.cu", "cast.cu", "copy.cu", "embedding.cu", "reduce.cu", "unary.cu");
    /** The sources that integers alone go through. */
    private static final Set<String> OF_INTEGERS = Set.of("ids.cu");

    private static boolean isFor(String name, DType type) {
        return OF_INTEGERS.contains(name) ? type.isInteger() : type.isFloating() || OF_ALL_TYPES.contains(name);
    }

    private static @Nullable String missing;

    @BeforeAll
    static void open() {
        if (!NativeLibrary.platform().equals("linux-x86_64")) {
            missing = "another platform";
            return;
        }
        try {
            // JCuda's natives need a driver to be loaded at all; any will do, a simulated one too.
            new LibrarySearch("the driver", "tp4j.cuda.driver", List.of("libcuda.so.1"), List.of(), "").open();
            CudaToolkit.open(ANY_DRIVER, 0);
        } catch (NativeLibraryException e) {
            missing = e.getMessage();
            return;
        }
        JCudaNatives.inOwnFolder(() -> JNvrtc.setExceptionsEnabled(false));
    }

    private static void assumeInstalled() {
        assumeThat(missing)
                .as("NVIDIA's NVRTC and a driver, which are not everywhere")
                .isNull();
    }

    static Stream<Arguments> sourcesAndTypes() throws IOException, URISyntaxException {
        Path folder = Path.of(KernelSources.class
                        .getResource(KernelSources.FOLDER + "tp4j.cuh")
                        .toURI())
                .getParent();
        try (Stream<Path> files = Files.list(folder)) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".cu"))
                    .sorted()
                    .toList();
            return names.stream()
                    .flatMap(name -> Stream.of(DType.values())
                            .filter(type -> isFor(name, type))
                            .map(type -> Arguments.of(name, type)));
        }
    }

    @ParameterizedTest
    @MethodSource("sourcesAndTypes")
    void shouldCompileEveryKernelForGpusOfSeveralGenerations(String name, DType type) throws Exception {
        assumeInstalled();
        Path folder = Path.of(KernelSources.class
                        .getResource(KernelSources.FOLDER + "tp4j.cuh")
                        .toURI())
                .getParent();
        for (int capability : new int[] {80, 90}) {
            byte[] image = new KernelCompiler(capability)
                    .compile(
                            name,
                            Files.readString(folder.resolve(name)),
                            KernelSources.headers(type),
                            KernelSources.defines(type));
            assertThat(image[ELF_MACHINE] & 0xFF).isEqualTo(CUDA_MACHINE);
        }
    }

    @Test
    void shouldGiveTheCompilersWords() {
        assumeInstalled();
        assertThatThrownBy(() ->
                        new KernelCompiler(90).compile("bad.cu", "int f() { return nosuch; }", Map.of(), List.of()))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("bad.cu(1)")
                .hasMessageContaining("nosuch");
    }

    @Test
    void shouldTranslateTextForADeviceNewerThanTheCompiler() {
        assumeInstalled();
        byte[] text = new KernelCompiler(999)
                .compile("none.cu", "extern \"C\" __global__ void none() {}", Map.of(), List.of());
        assertThat(new String(text, java.nio.charset.StandardCharsets.US_ASCII))
                .contains(".target sm_")
                .endsWith("\0");
    }
}
