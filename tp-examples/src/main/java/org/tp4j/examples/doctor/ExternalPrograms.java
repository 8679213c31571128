package org.tp4j.examples.doctor;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Runs other programs and reads system files, for their output. */
final class ExternalPrograms {
    private static final long TIMEOUT_SECONDS = 15;

    private ExternalPrograms() {}

    /** The executable of a program, if it is on the path. */
    static Optional<Path> find(String program) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
            Path file = Path.of(folder.isEmpty() ? "." : folder, program);
            if (Files.isRegularFile(file) && Files.isExecutable(file)) {
                return Optional.of(file);
            }
        }
        return Optional.empty();
    }

    /** The output of a program with standard error; empty if it cannot be run, fails or times out. */
    static Optional<String> output(String... command) {
        try {
            Path log = Files.createTempFile("tp4j-doctor", ".out");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile())
                        .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                        .start();
                if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    return Optional.empty();
                }
                return process.exitValue() == 0
                        ? Optional.of(Files.readString(log, StandardCharsets.ISO_8859_1)
                                .strip())
                        : Optional.empty();
            } finally {
                Files.deleteIfExists(log);
            }
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** The first line of the output. */
    static Optional<String> firstLine(String... command) {
        return output(command).flatMap(text -> text.lines().findFirst());
    }

    /** The lines of a system file; empty if it cannot be read. */
    static List<String> lines(String file) {
        try {
            return Files.readAllLines(Path.of(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return List.of();
        }
    }
}
