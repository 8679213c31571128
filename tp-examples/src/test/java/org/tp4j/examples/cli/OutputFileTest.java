package org.tp4j.examples.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.tensor.TpException;

class OutputFileTest {
    @TempDir
    private Path folder;

    @Test
    void shouldWriteAndReplaceAndLeaveNothingElse() throws Exception {
        Path path = folder.resolve("a.json");
        OutputFile file = OutputFile.check("--metrics", path);
        assertThat(path).doesNotExist();

        file.write("one");
        file.write("two");

        assertThat(path).hasContent("two");
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(path);
        }
    }

    @Test
    void shouldKeepTheModeOfTheFileItReplaces() throws Exception {
        Path path = Files.createFile(folder.resolve("a.json"));
        assumeTrue(Files.getFileStore(path).supportsFileAttributeView("posix"), "files have no modes here");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));

        OutputFile.check("--metrics", path).write("one");

        assertThat(Files.getPosixFilePermissions(path)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void shouldFollowNoLinkThatSomebodyHasPlanted() throws Exception {
        Path victim = Files.writeString(folder.resolve("victim"), "precious");
        Files.createSymbolicLink(
                folder.resolve(".a.json." + ProcessHandle.current().pid() + ".part"), victim);

        OutputFile.check("--metrics", folder.resolve("a.json")).write("one");

        assertThat(victim).hasContent("precious");
    }

    @Test
    void shouldRefuseAFolder() {
        assertThatThrownBy(() -> OutputFile.check("--report", folder))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("--report " + folder)
                .hasMessageContaining("HINT: name a file in it");
    }

    @Test
    void shouldRefuseAMissingFolder() {
        Path missing = folder.resolve("no/such");
        assertThatThrownBy(() -> OutputFile.check("--metrics", missing.resolve("m.json")))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("there is no folder " + missing)
                .hasMessageContaining("HINT: mkdir -p " + missing);
    }

    @Test
    void shouldRefuseAnUnwritableFolder() {
        Path kernel = Path.of("/proc/self"); // where not even root can create files
        assumeTrue(Files.isDirectory(kernel), "no /proc on this system");
        assertThatThrownBy(() -> OutputFile.check("--metrics", kernel.resolve("m.json")))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("cannot write in " + kernel);
    }
}
