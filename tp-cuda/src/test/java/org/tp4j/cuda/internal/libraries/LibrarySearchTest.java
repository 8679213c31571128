package org.tp4j.cuda.internal.libraries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.internal.NativeLibrary;

class LibrarySearchTest {
    private static final String PROPERTY = "tp4j.test.library";

    @TempDir
    private Path folder;

    private final LibrarySearch search =
            new LibrarySearch("Nothing", PROPERTY, List.of("libnothing.so.7"), List.of("nothing/lib"), "install it");

    @BeforeEach
    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
        System.clearProperty(CudaLibraries.SIMULATOR);
    }

    private Path file(String... parts) throws IOException {
        Path file = folder.resolve(Path.of("", parts));
        Files.createDirectories(file.getParent());
        return Files.createFile(file);
    }

    @Test
    void shouldLookNowhereElseWhenAFileIsNamed() throws IOException {
        file("lib", "libnothing.so.7");
        System.setProperty(PROPERTY, "/somewhere/libnothing.so.7");
        assertThat(search.candidates(Map.of("LD_LIBRARY_PATH", folder + "/lib")))
                .containsExactly("/somewhere/libnothing.so.7");
        assumeThat(NativeLibrary.platform())
                .as("our own native, built for this platform alone")
                .isEqualTo("linux-x86_64");
        assertThatThrownBy(search::open)
                .isInstanceOf(NativeLibraryException.class)
                .hasMessageContaining("Nothing cannot be used; looked at: /somewhere/libnothing.so.7")
                .hasMessageContaining("HINT: install it");
    }

    @Test
    void shouldTakeTheLibraryPathFirstAndTheSystemBeforePython() throws IOException {
        Path given = file("given", "libnothing.so.7");
        Path toolkit = file("cuda", "lib64", "libnothing.so.7");
        Path python = file("venv", "lib", "python3.12", "site-packages", "nvidia", "nothing", "lib", "libnothing.so.7");
        assertThat(search.candidates(Map.of(
                        "LD_LIBRARY_PATH", given.getParent().toString(),
                        "CUDA_HOME", folder.resolve("cuda").toString(),
                        "VIRTUAL_ENV", folder.resolve("venv").toString())))
                .containsExactly(given.toString(), toolkit.toString(), "libnothing.so.7", python.toString());
    }

    @Test
    void shouldLookForTheDriverWhereTheSystemHasItBeforeToolkits() throws IOException {
        Path stub = file("cuda", "lib64", "libnothing.so.7");
        LibrarySearch driver = LibrarySearch.ofDriver("Driver", PROPERTY, "libnothing.so.7", "install it");
        assertThat(driver.candidates(Map.of("CUDA_HOME", folder.resolve("cuda").toString())))
                .containsExactly("libnothing.so.7", stub.toString());
    }

    @Test
    void shouldFindThePackagesOfThePythonOnThePath() throws IOException {
        Path library = file("opt", "lib", "python3.9", "site-packages", "nvidia", "nothing", "lib", "libnothing.so.7");
        Path newer = file("opt", "lib", "python3.12", "site-packages", "nvidia", "nothing", "lib", "libnothing.so.7");
        assertThat(file("opt", "bin", "python3").toFile().setExecutable(true)).isTrue();
        assertThat(search.candidates(Map.of("PATH", "/nowhere:" + folder.resolve("opt/bin"))))
                .containsSubsequence("libnothing.so.7", newer.toString(), library.toString());
    }

    @Test
    void shouldUseNothingButTheSimulatorWhereOneIsSet() throws IOException {
        Path given = file("given", "libnothing.so.7");
        System.setProperty(CudaLibraries.SIMULATOR, folder.toString());
        assertThat(search.candidates(Map.of("LD_LIBRARY_PATH", given.getParent().toString())))
                .containsExactly(folder.resolve("libnothing.so.7").toString());
    }
}
