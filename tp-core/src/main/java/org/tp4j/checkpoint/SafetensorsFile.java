package org.tp4j.checkpoint;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/**
 * An open safetensors file: its header checked, its tensors read on request.
 *
 * <pre>{@code
 * try (SafetensorsFile file = SafetensorsFile.open(path)) {
 *     for (String name : file.names()) {
 *         System.out.println(name + " " + file.entry(name).type() + " " + file.entry(name).shape());
 *     }
 *     FloatBuffer values = file.read("weight").asFloatBuffer();
 * }
 * }</pre>
 *
 * <p>Nothing in a file is trusted before it has been checked: the header's length against the file's size, names for being
 * unique, types for being the format's, shapes against ranges, ranges for covering the data exactly. Memory used to open a
 * file is bounded by a small multiple of its header, which is at most 100 MB and lies in the file. Tensor values are not
 * checked, as the format says (NaN is legal), except truth values, which must be 0 or 1.
 *
 * <p>Thread-safe. Interrupting a thread that reads closes the file, as with every {@link FileChannel}.
 */
public final class SafetensorsFile implements AutoCloseable {
    /** Bytes read at once on the way to a device; a multiple of every element size. */
    private static final int STAGING_BYTES = 4 << 20;

    /** The largest array that every JVM can allocate. */
    private static final int MAX_BUFFER_BYTES = Integer.MAX_VALUE - 8;

    private static final int NAMES_SHOWN = 8;

    private final FileBytes bytes;
    private final SafetensorsHeader header;
    private final List<String> names;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final AtomicReference<@Nullable ByteBuffer> idleStaging = new AtomicReference<>();

    private SafetensorsFile(FileBytes bytes, SafetensorsHeader header) {
        this.bytes = bytes;
        this.header = header;
        this.names = List.copyOf(header.entries().keySet());
    }

    /**
     * Opens a file and checks its header.
     *
     * @throws SafetensorsException if there is no such file or it is damaged, with the reason; it is left closed
     */
    public static SafetensorsFile open(Path path) {
        if (!Files.isRegularFile(path)) {
            throw new SafetensorsException(path, null, Files.exists(path) ? "is not a regular file" : "does not exist");
        }
        try {
            return open(path, FileChannel.open(path, StandardOpenOption.READ));
        } catch (IOException e) {
            throw new SafetensorsException(path, null, "cannot be opened: " + e, e);
        }
    }

    /** Takes ownership of {@code channel}; closes it if the header is refused. */
    static SafetensorsFile open(Path path, FileChannel channel) throws IOException {
        boolean accepted = false;
        try {
            FileBytes bytes = new FileBytes(path, channel);
            SafetensorsFile file = new SafetensorsFile(bytes, SafetensorsHeader.read(bytes));
            accepted = true;
            return file;
        } finally {
            if (!accepted) {
                channel.close();
            }
        }
    }

    /** The path as it was given. */
    public Path path() {
        return bytes.file();
    }

    /** Names of the tensors, in the order of the header (the order of their bytes may differ). */
    public List<String> names() {
        return names;
    }

    /** Whether the file has a tensor of that name. */
    public boolean contains(String name) {
        return header.entries().containsKey(name);
    }

    /** Free text by name, in the order of the header; empty if there is none. */
    public Map<String, String> metadata() {
        return header.metadata();
    }

    /**
     * The header's description of a tensor.
     *
     * @throws SafetensorsException if there is none of that name; the message lists some that exist
     */
    public SafetensorsEntry entry(String name) {
        SafetensorsEntry entry = header.entries().get(name);
        if (entry == null) {
            throw error(
                    name,
                    "is not in the file, which has " + names.size() + " tensors"
                            + names.stream()
                                    .limit(NAMES_SHOWN)
                                    .map(Quoted::of)
                                    .collect(Collectors.joining(", ", names.isEmpty() ? "" : ": ", ""))
                            + (names.size() > NAMES_SHOWN ? ", ..." : ""));
        }
        return entry;
    }

    /**
     * All bytes of a tensor of any type, in a new little-endian buffer.
     *
     * @throws SafetensorsException if there is none of that name, it has 2 GiB or more, or reading fails
     */
    public ByteBuffer read(String name) {
        SafetensorsEntry entry = entry(name);
        if (entry.bytes() > MAX_BUFFER_BYTES) {
            throw error(
                    name,
                    "has " + entry.bytes() + " bytes, more than one buffer holds; HINT: read it in pieces with"
                            + " read(name, offsetBytes, buffer), or into an array with readInto");
        }
        ByteBuffer result = ByteBuffer.allocate((int) entry.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        read(name, 0, result);
        return result.flip();
    }

    /**
     * Fills the remaining bytes of a buffer with a piece of a tensor of any type.
     *
     * @param offsetBytes where the piece begins in the tensor
     * @throws SafetensorsException if there is no such tensor or the piece is not within it, or reading fails
     */
    public void read(String name, long offsetBytes, ByteBuffer to) {
        SafetensorsEntry entry = entry(name);
        checkOpen();
        if (offsetBytes < 0 || offsetBytes > entry.bytes() - to.remaining()) {
            throw error(
                    name,
                    to.remaining() + " bytes from byte " + offsetBytes + " were requested of its " + entry.bytes());
        }
        bytes.read(to, header.dataBegin() + entry.begin() + offsetBytes, name);
    }

    /**
     * Fills an array of the tensor's shape and type, on any device.
     *
     * @throws SafetensorsException as {@link #readRegion} does
     */
    public void readInto(String name, NdArray to) {
        readRegion(name, Region.whole(entry(name).shape()), to);
    }

    /**
     * Fills an array with a box of a tensor, reading only the box's part of the file (gaps below 4 KiB between short
     * runs are read over).
     *
     * @param region the box; its global shape is that of the tensor
     * @param to an array of the box's local shape and the tensor's type; changed only if all checks pass
     * @throws SafetensorsException if there is no such tensor, shapes or types differ, tensors cannot have its
     *     type, a truth value is neither 0 nor 1, or reading fails
     */
    public void readRegion(String name, Region region, NdArray to) {
        SafetensorsEntry entry = entry(name);
        checkOpen();
        checkTarget(entry, region, to);
        DType dtype = to.dtype();
        BoxReader box = new BoxReader(bytes, name, header.dataBegin() + entry.begin(), region, dtype.bytes());
        ByteBuffer staging = takeStaging();
        try {
            if (dtype == DType.BOOL) {
                box.forEachPiece(staging, piece -> checkTruthValues(name, piece));
            }
            Filler filler = new Filler(to.await());
            box.forEachPiece(staging, filler::append);
            to.storage().markChanged();
        } finally {
            idleStaging.set(staging);
        }
    }

    private void checkTarget(SafetensorsEntry entry, Region region, NdArray to) {
        String name = entry.name();
        DType dtype = entry.type().dtype().orElseThrow(() -> error(name, SafetensorsEntry.noTensorType(entry.type())));
        if (!region.global().equals(entry.shape())) {
            throw error(
                    name,
                    "has shape " + entry.shape() + ", but a region of shape " + region.global() + " was requested");
        }
        if (dtype != to.dtype()) {
            throw error(
                    name,
                    "has type " + dtype + ", but was to be read into " + to.dtype() + "; HINT: read it as " + dtype
                            + " and cast");
        }
        if (!region.local().equals(to.shape())) {
            throw error(name, "a region of shape " + region.local() + " was to be read into an array of " + to.shape());
        }
    }

    private void checkTruthValues(String name, ByteBuffer piece) {
        while (piece.hasRemaining()) {
            byte value = piece.get();
            if (value != 0 && value != 1) {
                throw error(
                        name,
                        "holds the truth value " + Byte.toUnsignedInt(value) + "; HINT: only 0 and 1 are valid;"
                                + " read(name) returns the raw bytes");
            }
        }
    }

    /** Copies pieces one after another into an array. */
    private static final class Filler {
        private final NdArray to;
        private long done;

        Filler(NdArray to) {
            this.to = to;
        }

        void append(ByteBuffer piece) {
            long elements = piece.remaining() / to.dtype().bytes();
            to.backend().copyIn(piece, to.window(done, Shape.of(elements)));
            done += elements;
        }
    }

    /** A buffer for this thread; one is kept, so that reading one tensor after another allocates once. */
    private ByteBuffer takeStaging() {
        ByteBuffer idle = idleStaging.getAndSet(null);
        if (idle != null) {
            return idle;
        }
        long largest = bytes.size() - header.dataBegin();
        int size = (int) Math.min(STAGING_BYTES, (largest + Long.BYTES - 1) / Long.BYTES * Long.BYTES);
        return ByteBuffer.allocateDirect(Math.max(Long.BYTES, size)).order(ByteOrder.LITTLE_ENDIAN);
    }

    private void checkOpen() {
        if (closed.get()) {
            throw new IllegalStateException("safetensors file " + path() + " is used after it was closed");
        }
    }

    private SafetensorsException error(String tensor, String reason) {
        return new SafetensorsException(path(), tensor, reason);
    }

    /**
     * Closes the file; names, entries and metadata remain readable.
     *
     * @throws IllegalStateException if it is already closed
     */
    @Override
    public void close() {
        if (closed.getAndSet(true)) {
            throw new IllegalStateException("safetensors file " + path() + " is closed twice");
        }
        idleStaging.set(null);
        bytes.close();
    }
}
