package org.tp4j.tensor.internal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes files that appear whole or not at all: under a temporary name in the same folder, which nobody can predict, and renamed
 * over what was there. A file that replaces another has its mode from the start; a symbolic link is replaced, not followed.
 *
 * <p>A writer that is killed leaves its temporary file behind. The next writer in the folder removes it, and cannot mistake a
 * live writer's for one: a writer keeps its file locked until it is renamed, the lock ends with the process, and only files
 * made since this machine was started, on which locks are the same kernel's, are considered. Files of this process and files
 * of other names are never touched.
 */
public final class AtomicFile {
    private static final String PREFIX = ".tp4j-";
    private static final String SUFFIX = ".tmp";
    private static final int ATTEMPTS = 10;

    private AtomicFile() {}

    /** Writes the content of a file. */
    @FunctionalInterface
    public interface Content {
        /** Writes all of it, in order. */
        void writeTo(FileChannel out) throws IOException;
    }

    /** The content of a file that is at hand. */
    public static void write(Path file, byte[] content) throws IOException {
        write(file, out -> {
            java.nio.ByteBuffer rest = java.nio.ByteBuffer.wrap(content);
            while (rest.hasRemaining()) {
                out.write(rest);
            }
        });
    }

    /**
     * Writes a file, or leaves what was there if that fails.
     *
     * @throws IOException if the file cannot be written; whatever {@code content} throws is passed on
     */
    public static void write(Path file, Content content) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null) {
            throw new FileSystemException(file.toString(), null, "is a folder");
        }
        sweep(folder);
        Set<PosixFilePermission> mode = modeOf(file);
        for (int attempt = 1; !attempt(folder, file, mode, content); attempt++) {
            if (attempt == ATTEMPTS) {
                throw new FileSystemException(
                        file.toString(), null, "its temporary file was removed while it was made");
            }
        }
    }

    /** Whether the temporary file was still there once it was locked, and so has become the file. */
    private static boolean attempt(Path folder, Path file, @Nullable Set<PosixFilePermission> mode, Content content)
            throws IOException {
        Path temporary = folder.resolve(PREFIX + Process.THIS + "-" + UUID.randomUUID() + SUFFIX);
        try (FileChannel out = create(temporary, mode)) {
            lock(out);
            if (!Files.exists(temporary, LinkOption.NOFOLLOW_LINKS)) {
                return false; // swept between its creation and its lock
            }
            content.writeTo(out);
            Files.move(
                    temporary,
                    file,
                    StandardCopyOption.ATOMIC_MOVE); // before the lock ends, so that no sweeper can come between
            return true;
        } catch (IOException | RuntimeException | Error e) {
            try {
                Files.deleteIfExists(temporary);
            } catch (IOException also) {
                e.addSuppressed(also);
            }
            throw e;
        }
    }

    private static FileChannel create(Path temporary, @Nullable Set<PosixFilePermission> mode) throws IOException {
        Set<StandardOpenOption> options = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        if (mode == null) {
            return FileChannel.open(temporary, options); // as the umask says
        }
        FileAttribute<?> attribute = PosixFilePermissions.asFileAttribute(mode);
        FileChannel out = FileChannel.open(temporary, options, attribute);
        Files.setPosixFilePermissions(temporary, mode); // what the umask took away
        return out;
    }

    /** The mode of a regular file that will be replaced; null if there is none. */
    private static @Nullable Set<PosixFilePermission> modeOf(Path file) throws IOException {
        try {
            PosixFileAttributes attributes =
                    Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return attributes.isRegularFile() ? attributes.permissions() : null;
        } catch (NoSuchFileException | UnsupportedOperationException e) {
            return null;
        }
    }

    @SuppressWarnings("resource") // the lock ends with the channel
    private static void lock(FileChannel out) {
        try {
            out.lock();
        } catch (IOException e) {
            // a file system without locks, where sweepers get none either
        }
    }

    private static void sweep(Path folder) {
        if (Process.BOOT.isEmpty()) {
            return;
        }
        try (DirectoryStream<Path> leftovers = Files.newDirectoryStream(folder, PREFIX + "*" + SUFFIX)) {
            for (Path leftover : leftovers) {
                String name = leftover.getFileName().toString();
                if (Process.OF_THIS_BOOT.matcher(name).matches() && !name.startsWith(PREFIX + Process.THIS + "-")) {
                    removeUnlessLocked(leftover);
                }
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            // a folder that cannot be listed cannot be swept
        }
    }

    @SuppressWarnings("try") // a lock that is only held
    private static void removeUnlessLocked(Path leftover) {
        try (FileChannel channel = FileChannel.open(leftover, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
                FileLock lock = channel.tryLock()) {
            if (lock != null) {
                Files.deleteIfExists(leftover);
            }
        } catch (IOException | OverlappingFileLockException e) {
            // somebody else's, or just renamed
        }
    }

    /** This process among all that have run since the machine was started. */
    private static final class Process {
        /** Of the kernel's random number for this start; empty where there is none. */
        static final String BOOT = boot();

        static final String THIS = BOOT + "-" + ProcessHandle.current().pid() + "-"
                + Long.toHexString(ProcessHandle.current()
                        .info()
                        .startInstant()
                        .orElse(Instant.EPOCH)
                        .toEpochMilli());

        static final Pattern OF_THIS_BOOT = Pattern.compile(Pattern.quote(PREFIX + BOOT)
                + "-\\d+-[0-9a-f]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}" + Pattern.quote(SUFFIX));

        private Process() {}

        private static String boot() {
            try {
                String id = Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                        .replace("-", "")
                        .strip();
                return id.matches("[0-9a-f]{32}") ? id.substring(0, 16) : "";
            } catch (IOException e) {
                return "";
            }
        }
    }
}
