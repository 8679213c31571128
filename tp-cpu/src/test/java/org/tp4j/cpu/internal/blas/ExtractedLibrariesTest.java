package org.tp4j.cpu.internal.blas;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExtractedLibrariesTest {
    private static final Path MAPS = Path.of("/proc/self/maps");

    @Test
    void shouldLeaveNoLibraryInTheTemporaryFolderOnceItIsLoaded() throws IOException {
        assumeTrue(Files.exists(MAPS), "only Linux tells which files are loaded");
        assumeTrue(NetlibBlas.load().description().startsWith("OpenBLAS"), "OpenBLAS cannot be loaded");
        List<String> loaded = Files.readAllLines(MAPS).stream()
                .filter(line -> line.contains("/libnetlibblasjni.so"))
                .toList();
        assertThat(loaded).isNotEmpty().allMatch(line -> line.endsWith(" (deleted)"));
    }
}
