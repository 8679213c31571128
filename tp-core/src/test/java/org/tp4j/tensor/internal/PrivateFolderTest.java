package org.tp4j.tensor.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PrivateFolderTest {
    private static final String PROPERTY = "tp4j.test.cache";

    private final String home = System.getProperty("user.home");

    @TempDir
    Path folder;

    @BeforeEach
    void needsModes() throws IOException {
        assumeTrue(Files.getFileStore(folder).supportsFileAttributeView("posix"), "files have no modes here");
    }

    @AfterEach
    void restore() {
        System.setProperty("user.home", home);
        System.clearProperty(PROPERTY);
    }

    private static String mode(Path path) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
    }

    private Path made(String mode) throws IOException {
        Path made = Files.createDirectory(folder.resolve("made"));
        Files.setPosixFilePermissions(made, PosixFilePermissions.fromString(mode));
        return made;
    }

    @Test
    void shouldCreateAFolderForThisUserAlone() throws IOException {
        assertThat(mode(PrivateFolder.open(folder.resolve("a/b")))).isEqualTo("rwx------");
        assertThat(PrivateFolder.open(folder.resolve("a/b")))
                .isEqualTo(folder.toRealPath().resolve("a/b"));
    }

    @Test
    void shouldCloseAFolderThatOthersCouldRead() throws IOException {
        Path made = made("rwxr-xr-x");
        PrivateFolder.open(made);
        assertThat(mode(made)).isEqualTo("rwx------");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwxr-x", "rwx---rwx", "rwx-w----"})
    void shouldRefuseAFolderThatOthersCanWrite(String mode) throws IOException {
        Path made = made(mode);
        assertThatThrownBy(() -> PrivateFolder.open(made))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("folder " + made.toRealPath() + " can be written by others (" + mode + ")")
                .hasMessageContaining("delete it, or chmod 700");
        assertThatThrownBy(() -> PrivateFolder.open(Files.createSymbolicLink(folder.resolve("link"), made)))
                .hasMessageContaining("can be written by others");
        assertThat(mode(made)).isEqualTo(mode);
    }

    @Test
    void shouldRefuseAFolderOfSomebodyElse() throws IOException {
        Path other = Files.getOwner(Path.of("/")).equals(Files.getOwner(folder)) ? someoneElses() : Path.of("/usr");
        assertThatThrownBy(() -> PrivateFolder.open(other))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("folder " + other.toRealPath() + " belongs to user ")
                .hasMessageContaining("its content cannot be trusted");
    }

    /** As the superuser, who can give a folder away. */
    private Path someoneElses() throws IOException {
        Path made = made("rwx------");
        Files.setAttribute(made, "unix:uid", 65534);
        return made;
    }

    @Test
    void shouldRefuseAFileInTheFoldersPlace() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThatThrownBy(() -> PrivateFolder.open(file)).isInstanceOf(IOException.class);
    }

    @Test
    void shouldTakeTheCacheFromTheHomeOrTheProperty() throws IOException {
        System.setProperty("user.home", folder.toString());
        assertThat(PrivateFolder.cache(PROPERTY, "kernels"))
                .isEqualTo(folder.toRealPath().resolve(".cache/tp4j/kernels"));
        System.setProperty(PROPERTY, folder.resolve("named").toString());
        assertThat(PrivateFolder.cache(PROPERTY, "kernels"))
                .isEqualTo(folder.toRealPath().resolve("named"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"?", "", "relative"})
    void shouldNeverFallBackToTheWorkingDirectory(String noHome) {
        System.setProperty("user.home", noHome);
        assertThatThrownBy(() -> PrivateFolder.cache(PROPERTY, "kernels"))
                .isInstanceOf(IOException.class)
                .hasMessage("this user has no home folder (user.home is '" + noHome
                        + "'); HINT: name another folder with -Dtp4j.test.cache=FOLDER");
        assertThat(Path.of(noHome, ".cache")).doesNotExist();
    }
}
