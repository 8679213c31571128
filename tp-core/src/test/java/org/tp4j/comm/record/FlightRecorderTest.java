package org.tp4j.comm.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FlightRecorderTest {
    private final FlightRecorder recorder = new FlightRecorder(3);

    @TempDir
    Path folder;

    @Test
    void shouldWriteAFileThatOnlyThisUserReads() throws IOException {
        assumeTrue(Files.getFileStore(folder).supportsFileAttributeView("posix"), "files have no modes here");
        Path record = recorder.write(folder, "the reason");
        assertThat(Files.getPosixFilePermissions(record)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
        assertThat(Files.readAllLines(record)).startsWith("the reason", "flight record of rank 3: 0 calls");
    }

    @Test
    void shouldFollowNoLinkThatSomebodyHasPlanted() throws IOException {
        Path victim = Files.writeString(folder.resolve("victim"), "precious");
        String guess = "tp4j-flight-rank3-" + ProcessHandle.current().pid();
        Files.createSymbolicLink(folder.resolve(guess + ".txt"), victim);
        Files.createSymbolicLink(folder.resolve(guess + "-.txt"), victim);
        Path first = recorder.write(folder, "once");
        Path second = recorder.write(folder, "twice");
        assertThat(victim).hasContent("precious");
        assertThat(first).isNotEqualTo(second);
        assertThat(first.getFileName().toString()).matches(guess + "-\\d+\\.txt");
    }
}
