package org.tp4j.checkpoint;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.internal.AtomicFile;

/**
 * Writes a safetensors file: tensors are added first, then all written at once.
 *
 * <pre>{@code
 * new SafetensorsWriter(path)
 *         .metadata("format", "pt")
 *         .add("weight", weight)
 *         .add("step", DType.INT64, Shape.scalar(), stepBytes)
 *         .write();
 * }</pre>
 *
 * <p>The file appears whole or not at all: it is written under a temporary name in the same folder, forced to disk, and
 * renamed over an existing one, whose mode it keeps (a symbolic link is replaced, not followed). A process that is killed
 * while it writes leaves the old file untouched and a hidden {@code .tp4j-*.tmp} behind, which the next write into the folder
 * removes. Tensors pass through one small buffer, so a file may be
 * larger than memory.
 *
 * <p>Tensors are laid out as the reference implementation does: by type, widest first, then by the bytes of their
 * names. With data beginning at a multiple of 8 bytes this aligns every element, and equal content gives equal files.
 * Sources are called in that order, {@link #names()}.
 */
public final class SafetensorsWriter {
    /** Bytes copied at once from a device; a multiple of every element size. */
    private static final int STAGING_BYTES = 4 << 20;

    private static final int ALIGNMENT_BYTES = 8;
    private static final JsonFactory JSON = new JsonFactory();
    private static final Comparator<Tensor> ORDER = Comparator.comparing(Tensor::type, Comparator.reverseOrder())
            .thenComparing(tensor -> tensor.name().getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);

    /** Where a tensor's bytes come from. */
    @FunctionalInterface
    public interface Source {
        /**
         * Passes all bytes of the tensor, row-major and little-endian, to {@code out} in any number of pieces. Called once per
         * {@link SafetensorsWriter#write()}, by its thread.
         */
        void writeTo(Consumer<ByteBuffer> out);
    }

    private record Tensor(String name, SafetensorsType type, Shape shape, long bytes, Source source) {}

    private final Path file;
    private final Map<String, Tensor> tensors = new LinkedHashMap<>();
    private final Map<String, String> metadata = new LinkedHashMap<>();

    /** A writer of {@code file}, which is not touched before {@link #write()}. */
    public SafetensorsWriter(Path file) {
        this.file = file;
    }

    /**
     * Adds a line of free text; readers get them in the order they were added.
     *
     * @throws SafetensorsException if that name is taken
     */
    public SafetensorsWriter metadata(String name, String value) {
        checkText(name, "metadata name");
        checkText(value, "metadata value");
        if (metadata.putIfAbsent(name, value) != null) {
            throw error(null, "metadata " + Quoted.of(name) + " is added twice");
        }
        return this;
    }

    /**
     * Adds a tensor that this rank holds whole, which is read when the file is written and must live until then.
     *
     * @throws SafetensorsException if the name is taken or cannot be one
     * @throws LayoutException if the tensor is sharded or pending, so that this rank has only a part of it
     */
    public SafetensorsWriter add(String name, org.tp4j.tensor.Tensor tensor) {
        if (tensor instanceof DTensor onMesh) {
            for (int a = 0; a < onMesh.layout().placements().size(); a++) {
                if (!onMesh.layout().placement(a).isWhole()
                        && onMesh.layout().mesh().axis(a).size() > 1) {
                    throw new LayoutException(
                            "save",
                            "tensor '" + name + "' " + onMesh.shape() + " is laid out " + onMesh.layout()
                                    + ", so this rank has only "
                                    + onMesh.local().shape()
                                    + " of it; HINT: ModelFiles.save(model, file) gathers a model's tensors,"
                                    + " fullTensor() one");
                }
            }
        }
        return add(name, tensor.local());
    }

    /**
     * Adds an array, such as this rank's part of a tensor; it is read when the file is written and must live until then.
     *
     * @throws SafetensorsException if the name is taken or invalid
     */
    public SafetensorsWriter add(String name, NdArray array) {
        return add(name, SafetensorsType.of(array.dtype()), array.shape(), out -> copyOut(array, out));
    }

    /**
     * Adds the remaining bytes of a buffer, row-major and little-endian; they are read when the file is written.
     *
     * @throws SafetensorsException if the name is taken or invalid, or the bytes do not match the shape
     */
    public SafetensorsWriter add(String name, DType dtype, Shape shape, ByteBuffer data) {
        return add(name, SafetensorsType.of(dtype), shape, data);
    }

    /** As {@link #add(String, DType, Shape, ByteBuffer)}, for types that tensors cannot have too. */
    public SafetensorsWriter add(String name, SafetensorsType type, Shape shape, ByteBuffer data) {
        ByteBuffer own = data.duplicate();
        long bytes = bytes(name, type, shape);
        if (own.remaining() != bytes) {
            throw error(
                    name,
                    "shape " + shape + " of " + type + " has " + bytes + " bytes, but " + own.remaining()
                            + " were given");
        }
        return add(name, type, shape, out -> out.accept(own.duplicate()));
    }

    /**
     * Adds a tensor whose bytes are requested when it is written, so that they need not exist earlier, or all at once.
     *
     * @throws SafetensorsException if the name is taken or invalid, or the tensor is not a whole number of bytes
     */
    public SafetensorsWriter add(String name, SafetensorsType type, Shape shape, Source source) {
        checkText(name, "tensor name");
        if (name.equals(HeaderParser.METADATA)) {
            throw error(name, "is the name of the metadata; HINT: give the tensor another name");
        }
        if (shape.dims() > HeaderParser.MAX_DIMS) {
            throw error(name, "has " + shape.dims() + " dimensions; " + HeaderParser.MAX_DIMS + " are allowed");
        }
        Tensor tensor = new Tensor(name, type, shape, bytes(name, type, shape), source);
        if (tensors.putIfAbsent(name, tensor) != null) {
            throw error(name, "is added twice; HINT: a shared tensor is stored once, under one of its names");
        }
        return this;
    }

    /** Names of the tensors added so far, in the order in which they are written. */
    public List<String> names() {
        return ordered().stream().map(Tensor::name).toList();
    }

    /**
     * Writes the file, replacing an existing one.
     *
     * @throws SafetensorsException if it cannot be written, the header would exceed the format's 100 MB, or a source
     *     gives too few or too many bytes; an existing file is then unchanged
     */
    public void write() {
        checkPlace();
        List<Tensor> ordered = ordered();
        ByteBuffer header = header(ordered);
        try {
            AtomicFile.write(file, out -> {
                writeFully(out, header);
                for (Tensor tensor : ordered) {
                    writeTensor(out, tensor);
                }
                out.force(true);
            });
        } catch (IOException e) {
            throw new SafetensorsException(file, null, "cannot be written: " + e, e);
        } catch (UncheckedIOException e) {
            throw new SafetensorsException(file, null, "cannot be written: " + e.getCause(), e.getCause());
        }
    }

    private void checkPlace() {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || Files.isDirectory(file)) {
            throw error(null, "cannot be written: it is a folder");
        }
        if (!Files.isDirectory(folder)) {
            throw error(null, "cannot be written: there is no folder " + folder + "; HINT: create it first");
        }
    }

    private void writeTensor(FileChannel out, Tensor tensor) throws IOException {
        long begin = out.position();
        long end = begin + tensor.bytes();
        tensor.source().writeTo(piece -> {
            try {
                if (piece.remaining() > end - out.position()) {
                    throw error(tensor.name(), "its source gives more than its " + tensor.bytes() + " bytes");
                }
                writeFully(out, piece);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        long written = out.position() - begin;
        if (written != tensor.bytes()) {
            throw error(tensor.name(), "its source gave " + written + " of its " + tensor.bytes() + " bytes");
        }
    }

    private static void writeFully(FileChannel out, ByteBuffer from) throws IOException {
        int end = from.limit();
        while (from.position() < end) {
            // In pieces for the same reason as in FileBytes.
            from.limit(from.position() + Math.min(end - from.position(), STAGING_BYTES));
            out.write(from);
        }
        from.limit(end);
    }

    static void copyOut(NdArray array, Consumer<ByteBuffer> out) {
        array.await();
        int elementBytes = array.dtype().bytes();
        long pieceElements = Math.min(array.elements(), STAGING_BYTES / elementBytes);
        ByteBuffer staging = ByteBuffer.allocateDirect((int) pieceElements * elementBytes);
        for (long done = 0; done < array.elements(); done += pieceElements) {
            long n = Math.min(pieceElements, array.elements() - done);
            staging.clear().limit((int) n * elementBytes).order(ByteOrder.LITTLE_ENDIAN);
            array.backend().copyOut(array.window(done, Shape.of(n)), staging);
            out.accept(staging.flip());
        }
    }

    private ByteBuffer header(List<Tensor> ordered) {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        // Through a writer: a generator that writes bytes directly would escape characters beyond U+FFFF.
        try (JsonGenerator json = JSON.createGenerator(new OutputStreamWriter(text, StandardCharsets.UTF_8))) {
            json.writeStartObject();
            if (!metadata.isEmpty()) {
                json.writeObjectFieldStart(HeaderParser.METADATA);
                for (Map.Entry<String, String> line : metadata.entrySet()) {
                    json.writeStringField(line.getKey(), line.getValue());
                }
                json.writeEndObject();
            }
            long at = 0;
            for (Tensor tensor : ordered) {
                long end = Math.addExact(at, tensor.bytes());
                json.writeObjectFieldStart(tensor.name());
                json.writeStringField("dtype", tensor.type().name());
                long[] sizes = tensor.shape().toArray();
                json.writeFieldName("shape");
                json.writeArray(sizes, 0, sizes.length);
                json.writeFieldName("data_offsets");
                json.writeArray(new long[] {at, end}, 0, 2);
                json.writeEndObject();
                at = end;
            }
            json.writeEndObject();
        } catch (IOException | ArithmeticException e) {
            throw new SafetensorsException(file, null, "its header cannot be made: " + e.getMessage(), e);
        }
        int padding = (ALIGNMENT_BYTES - text.size() % ALIGNMENT_BYTES) % ALIGNMENT_BYTES;
        int length = text.size() + padding;
        if (length > SafetensorsHeader.MAX_HEADER_BYTES) {
            throw error(
                    null,
                    "its header of " + length + " bytes is above the format's limit of "
                            + SafetensorsHeader.MAX_HEADER_BYTES + "; HINT: spread the tensors over several files");
        }
        ByteBuffer result =
                ByteBuffer.allocate(SafetensorsHeader.PREFIX_BYTES + length).order(ByteOrder.LITTLE_ENDIAN);
        result.putLong(length).put(text.toByteArray());
        while (result.hasRemaining()) {
            result.put((byte) ' ');
        }
        return result.flip();
    }

    private List<Tensor> ordered() {
        List<Tensor> ordered = new ArrayList<>(tensors.values());
        ordered.sort(ORDER);
        return ordered;
    }

    private long bytes(String name, SafetensorsType type, Shape shape) {
        try {
            return type.bytes(shape);
        } catch (IllegalArgumentException e) {
            throw new SafetensorsException(file, name, String.valueOf(e.getMessage()), e);
        }
    }

    private void checkText(String text, String what) {
        if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
            throw error(null, what + " " + Quoted.of(text) + " holds an unpaired surrogate");
        }
    }

    private SafetensorsException error(@Nullable String tensor, String reason) {
        return new SafetensorsException(file, tensor, reason);
    }
}
