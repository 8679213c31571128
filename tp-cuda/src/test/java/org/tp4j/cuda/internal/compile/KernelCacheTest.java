package org.tp4j.cuda.internal.compile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which folder compiled kernels are read from: they run on the device, so it must be this user's alone. */
class KernelCacheTest {
    private static final String PROPERTY = "tp4j.cuda.kernelCache";

    private final @Nullable String set = System.getProperty(PROPERTY);
    private final String home = System.getProperty("user.home");

    @TempDir
    Path folder;

    @AfterEach
    void restore() {
        System.setProperty("user.home", home);
        if (set == null) {
            System.clearProperty(PROPERTY);
        } else {
            System.setProperty(PROPERTY, set);
        }
    }

    @Test
    void shouldUseAFolderOfThisUserAlone() throws IOException {
        Path named = folder.resolve("kernels");
        System.setProperty(PROPERTY, named.toString());
        assertThat(KernelCache.folder()).isEqualTo(named.toRealPath());
        System.setProperty(PROPERTY, "none");
        assertThat(KernelCache.folder()).isNull();
    }

    @Test
    void shouldUseNoFolderThatOthersCanWrite() throws IOException {
        assumeTrue(Files.getFileStore(folder).supportsFileAttributeView("posix"), "files have no modes here");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        System.setProperty(PROPERTY, folder.toString());
        assertThat(KernelCache.folder()).isNull();
    }

    @Test
    void shouldUseNoFolderBelowTheWorkingDirectoryWithoutAHome() {
        System.clearProperty(PROPERTY);
        System.setProperty("user.home", "?");
        assertThat(KernelCache.folder()).isNull();
        assertThat(Path.of("?")).doesNotExist();
    }
}
