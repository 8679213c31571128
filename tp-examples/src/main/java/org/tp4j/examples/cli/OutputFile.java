package org.tp4j.examples.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.tp4j.tensor.TpException;

/** A file that a program writes at its end: checked for writability at the start, replaced atomically. */
public final class OutputFile {
    private final Path path;

    private OutputFile(Path path) {
        this.path = path;
    }

    /**
     * Checks that the file can be written, by creating a temporary file beside it.
     *
     * @param option the option that names the file, for messages
     * @throws TpException if the file cannot be written
     */
    public static OutputFile check(String option, Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        Path folder = absolute.getParent();
        String argument = option + " " + path;
        if (folder == null || Files.isDirectory(absolute)) {
            throw new TpException(argument + ": this is a folder; HINT: name a file in it");
        }
        if (!Files.isDirectory(folder)) {
            throw new TpException(argument + ": there is no folder " + folder + "; HINT: mkdir -p " + folder);
        }
        try {
            Files.delete(Files.createTempFile(folder, "." + absolute.getFileName(), ".probe"));
        } catch (IOException e) {
            throw new TpException(
                    argument + ": cannot write in " + folder + " (" + reason(e) + "); HINT: choose a writable folder",
                    e);
        }
        if (Files.exists(absolute) && !Files.isWritable(absolute)) {
            throw new TpException(argument + ": the file exists and is read-only");
        }
        return new OutputFile(absolute);
    }

    /** A file that another rank checks and writes. */
    public static OutputFile unchecked(Path path) {
        return new OutputFile(path.toAbsolutePath().normalize());
    }

    /** The absolute path. */
    public Path path() {
        return path;
    }

    /**
     * Writes a temporary file and renames it: readers see the old content or the new, never a part. A file that is replaced
     * keeps its mode.
     */
    public void write(String content) {
        try {
            Path temporary = path.resolveSibling("." + path.getFileName() + "." + UUID.randomUUID() + ".part");
            try {
                // A new file under a name that nobody can predict, so that no link planted there is followed.
                Files.createFile(temporary);
                if (Files.isRegularFile(path) && Files.getFileStore(path).supportsFileAttributeView("posix")) {
                    Files.setPosixFilePermissions(temporary, Files.getPosixFilePermissions(path));
                }
                Files.writeString(temporary, content, StandardCharsets.UTF_8);
                move(temporary);
            } finally {
                Files.deleteIfExists(temporary);
            }
        } catch (IOException e) {
            throw new TpException("cannot write " + path + " (" + reason(e) + ")", e);
        }
    }

    private void move(Path temporary) throws IOException {
        try {
            Files.move(temporary, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(temporary, path, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static String reason(IOException e) {
        return e.getClass().getSimpleName().replace("Exception", "") + ": " + e.getMessage();
    }
}
