package org.tp4j.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Bytes of an open file, read at positions, with errors that name the file. Thread-safe. */
final class FileBytes {
    /** The JDK copies into a heap buffer through a direct one as large as the read, which it keeps for the thread. */
    private static final int MAX_READ_BYTES = 1 << 20;

    private final Path file;
    private final FileChannel channel;
    private final long size;

    FileBytes(Path file, FileChannel channel) {
        this.file = file;
        this.channel = channel;
        try {
            this.size = channel.size();
        } catch (IOException e) {
            throw new SafetensorsException(file, null, "its size cannot be read: " + e.getMessage(), e);
        }
    }

    Path file() {
        return file;
    }

    /** Size of the file when it was opened. */
    long size() {
        return size;
    }

    /** Fills the remaining bytes of {@code to} with those from {@code position} on; {@code tensor} is for messages. */
    void read(ByteBuffer to, long position, @Nullable String tensor) {
        int end = to.limit();
        long at = position;
        try {
            while (to.position() < end) {
                to.limit(to.position() + Math.min(end - to.position(), MAX_READ_BYTES));
                int n = channel.read(to, at);
                if (n < 0) {
                    throw new SafetensorsException(
                            file,
                            tensor,
                            "ended at byte " + at + " although it had " + size
                                    + " bytes when it was opened; HINT: it is being overwritten: save to another name"
                                    + " and rename");
                }
                at += n;
            }
        } catch (IOException e) {
            String what = e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
            throw new SafetensorsException(file, tensor, "cannot be read at byte " + at + ": " + what, e);
        } finally {
            to.limit(end);
        }
    }

    void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new SafetensorsException(file, null, "cannot be closed: " + e.getMessage(), e);
        }
    }
}
