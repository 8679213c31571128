package org.tp4j.examples.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.tp4j.tensor.TpException;

/** A file that a program writes when its work is done: checked before the work, never there half. */
public final class OutputFile {
    private final Path path;

    private OutputFile(Path path) {
        this.path = path;
    }

    /**
     * Checks that the file can be written, by writing an empty one beside it.
     *
     * @param option the option it was given by, for messages
     * @throws TpException saying what is in the way
     */
    public static OutputFile check(String option, Path path) {
        Path absolute = path.toAbsolutePath().normalize();
        Path folder = absolute.getParent();
        String asked = option + " " + path;
        if (folder == null || Files.isDirectory(absolute)) {
            throw new TpException(asked + ": that is a folder; HINT: name a file in it");
        }
        if (!Files.isDirectory(folder)) {
            throw new TpException(asked + ": there is no folder " + folder + "; HINT: mkdir -p " + folder);
        }
        try {
            Files.delete(Files.createTempFile(folder, "." + absolute.getFileName(), ".probe"));
        } catch (IOException e) {
            throw new TpException(
                    asked + ": no file can be written in " + folder + " (" + reason(e)
                            + "); HINT: choose a folder that you may write to",
                    e);
        }
        if (Files.exists(absolute) && !Files.isWritable(absolute)) {
            throw new TpException(asked + ": the file is there and may not be overwritten");
        }
        return new OutputFile(absolute);
    }

    /** A file that another rank writes. */
    public static OutputFile unchecked(Path path) {
        return new OutputFile(path.toAbsolutePath().normalize());
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** Writes the file beside its place and moves it there: whoever looks sees the old one or the new one. */
    public void write(String content) {
        try {
            Path fresh = path.resolveSibling(
                    "." + path.getFileName() + "." + ProcessHandle.current().pid() + ".part");
            try {
                Files.writeString(fresh, content, StandardCharsets.UTF_8);
                move(fresh);
            } finally {
                Files.deleteIfExists(fresh);
            }
        } catch (IOException e) {
            throw new TpException("could not write " + path + " (" + reason(e) + ")", e);
        }
    }

    private void move(Path fresh) throws IOException {
        try {
            Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (AtomicMoveNotSupportedException e) {
            Files.move(fresh, path, StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static String reason(IOException e) {
        return e.getClass().getSimpleName().replace("Exception", "") + ": " + e.getMessage();
    }
}
