package org.tp4j.cuda.internal.compile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.tensor.internal.AtomicFile;
import org.tp4j.tensor.internal.PrivateFolder;

/**
 * Compiled kernels on disk, under a name that contains the hash of all their inputs. Several processes may write at once:
 * a file appears whole or not at all, and carries a hash of its content, so that a damaged file is replaced.
 *
 * <p>The folder is the system property {@code tp4j.cuda.kernelCache} ({@code none} switches it off), or else {@code
 * ~/.cache/tp4j/kernels}: a {@linkplain PrivateFolder private folder}, since its content runs on the device. Without one,
 * kernels are compiled at every start.
 */
final class KernelCache {
    private static final Logger LOG = LoggerFactory.getLogger(KernelCache.class);
    private static final String FOLDER = "tp4j.cuda.kernelCache";
    private static final int HASH_BYTES = 32;

    private KernelCache() {}

    /** The content for {@code parts}, compiled if it is not cached. */
    static byte[] get(String name, List<String> parts, Supplier<byte[]> maker) {
        Path folder = Holder.FOLDER;
        if (folder == null) {
            return maker.get();
        }
        Path file = folder.resolve(name + "-" + HexFormat.of().formatHex(hash(join(parts)), 0, 16));
        byte[] found = read(file);
        if (found != null) {
            return found;
        }
        long start = System.nanoTime();
        byte[] made = maker.get();
        LOG.debug("compiled {} in {} ms", name, (System.nanoTime() - start) / 1_000_000);
        write(file, made);
        return made;
    }

    /** Determined once per process, so that a warning is logged once. */
    private static final class Holder {
        static final @Nullable Path FOLDER = folder();

        private Holder() {}
    }

    /** The folder; null if caching is off or no folder can be trusted. */
    static @Nullable Path folder() {
        String set = System.getProperty(FOLDER, "");
        if (set.equals("none")) {
            return null;
        }
        try {
            return PrivateFolder.cache(FOLDER, "kernels");
        } catch (IOException e) {
            LOG.warn("compiled kernels are not kept: {}", e.getMessage());
            return null;
        }
    }

    private static byte[] join(List<String> parts) {
        StringBuilder text = new StringBuilder();
        for (String part : parts) {
            text.append(part.length()).append(':').append(part);
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte @Nullable [] read(Path file) {
        try {
            byte[] content = Files.readAllBytes(file);
            byte[] body = Arrays.copyOf(content, Math.max(0, content.length - HASH_BYTES));
            byte[] hash = Arrays.copyOfRange(content, body.length, content.length);
            return Arrays.equals(hash, hash(body)) ? body : null;
        } catch (IOException e) {
            return null; // not cached yet
        }
    }

    private static void write(Path file, byte[] body) {
        try {
            byte[] content = Arrays.copyOf(body, body.length + HASH_BYTES);
            System.arraycopy(hash(body), 0, content, body.length, HASH_BYTES);
            AtomicFile.write(file, content);
        } catch (IOException e) {
            LOG.warn("compiled kernels cannot be kept in {}: {}", file.getParent(), e.toString());
        }
    }

    private static byte[] hash(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has the algorithm
        }
    }
}
