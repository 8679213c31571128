package org.tp4j.tensor.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AtomicFileTest {
    private static final byte[] OLD = {1};
    private static final byte[] NEW = {2, 3};

    @TempDir
    Path folder;

    private Path file() {
        return folder.resolve("file");
    }

    private List<String> hidden() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(path -> path.getFileName().toString())
                    .filter(name -> name.startsWith(".tp4j-"))
                    .toList();
        }
    }

    private void assumePosix() throws IOException {
        FileStore store = Files.getFileStore(folder);
        assumeTrue(store.supportsFileAttributeView("posix"), "files have no modes here");
    }

    private String mode() throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file()));
    }

    @Test
    void shouldKeepTheModeOfTheFileItReplaces() throws IOException {
        assumePosix();
        for (String mode : List.of("rw-------", "rw-rw-rw-", "r--r-----")) {
            Files.deleteIfExists(file());
            Files.write(file(), OLD);
            Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString(mode));
            AtomicFile.write(file(), NEW);
            assertThat(file()).hasBinaryContent(NEW);
            assertThat(mode()).isEqualTo(mode);
        }
    }

    @Test
    void shouldNeverShowTheContentOfAPrivateFileToOthers() throws IOException {
        assumePosix();
        Files.write(file(), OLD);
        Files.setPosixFilePermissions(file(), PosixFilePermissions.fromString("rw-------"));
        AtomicFile.write(file(), out -> {
            out.write(ByteBuffer.wrap(NEW));
            String temporary = hidden().get(0);
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(temporary))))
                    .isEqualTo("rw-------");
        });
    }

    @Test
    void shouldGiveANewFileTheUsualMode() throws IOException {
        assumePosix();
        Path usual = Files.write(folder.resolve("usual"), OLD);
        AtomicFile.write(file(), NEW);
        assertThat(Files.getPosixFilePermissions(file())).isEqualTo(Files.getPosixFilePermissions(usual));
    }

    @Test
    void shouldReplaceALinkAndLeaveItsTargetAlone() throws IOException {
        Path target = Files.write(folder.resolve("target"), OLD);
        Files.createSymbolicLink(file(), target);
        AtomicFile.write(file(), NEW);
        assertThat(target).hasBinaryContent(OLD);
        assertThat(Files.isSymbolicLink(file())).isFalse();
    }

    @Test
    void shouldLeaveTheOldFileAndNothingElseWhenItFails() throws IOException {
        Files.write(file(), OLD);
        assertThatThrownBy(() -> AtomicFile.write(file(), out -> {
                    throw new IOException("disk full");
                }))
                .hasMessage("disk full");
        assertThat(file()).hasBinaryContent(OLD);
        assertThat(hidden()).isEmpty();
    }

    @Test
    void shouldLeaveAloneWhatAnotherThreadIsWriting() throws IOException {
        AtomicFile.write(file(), out -> {
            AtomicFile.write(folder.resolve("other"), NEW);
            assertThat(hidden()).hasSize(1);
            out.write(ByteBuffer.wrap(OLD));
        });
        assertThat(file()).hasBinaryContent(OLD);
        assertThat(folder.resolve("other")).hasBinaryContent(NEW);
    }

    @Test
    void shouldRemoveWhatAKilledWriterLeftAndNothingThatALiveOneWrites() throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/sys/kernel/random/boot_id")), "only Linux tells one start from another");
        Process writer = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        StuckWriter.class.getName(),
                        file().toString())
                .redirectErrorStream(true)
                .start();
        try {
            assertThat(writer.getInputStream().read()).isEqualTo('w');
            List<String> before = hidden();
            assertThat(before).hasSize(1);
            AtomicFile.write(folder.resolve("other"), NEW);
            assertThat(hidden()).isEqualTo(before);
        } finally {
            writer.destroyForcibly();
        }
        assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
        Path foreign = Files.write(folder.resolve(".tp4j-0b4cc2a0-6d6b-4e29-8a0c-6ac4a6d8a1de.tmp"), OLD);
        AtomicFile.write(folder.resolve("other"), NEW);
        assertThat(hidden()).containsExactly(foreign.getFileName().toString());
        assertThat(file()).doesNotExist();
    }

    /** A process that has begun to write a file and does not go on. */
    static final class StuckWriter {
        private StuckWriter() {}

        public static void main(String[] arguments) throws IOException {
            AtomicFile.write(Path.of(arguments[0]), out -> {
                out.write(ByteBuffer.wrap(OLD));
                // Sweeps too, and must not open the file above: closing it would end this process's lock on it.
                AtomicFile.write(Path.of(arguments[0] + ".inner"), NEW);
                System.out.print("w");
                System.out.flush();
                try {
                    Thread.sleep(600_000);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
        }
    }
}
