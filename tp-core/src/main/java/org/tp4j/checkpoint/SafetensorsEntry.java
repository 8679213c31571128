package org.tp4j.checkpoint;

import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.TpException;

/**
 * What the header of a file says of one tensor.
 *
 * @param name its name
 * @param type its element type, under the format's name
 * @param shape its sizes; may be a scalar's, or hold zeros
 * @param begin where its bytes begin, counted from the first byte after the header
 * @param end where they end, exclusive
 */
public record SafetensorsEntry(String name, SafetensorsType type, Shape shape, long begin, long end) {
    /**
     * Checks that the range is one and has as many bytes as shape and type ask for.
     *
     * @throws IllegalArgumentException if not
     */
    public SafetensorsEntry {
        if (begin < 0 || begin > end) {
            throw new IllegalArgumentException("[" + begin + ", " + end + "] is no range of bytes");
        }
        long bytes = type.bytes(shape);
        if (end - begin != bytes) {
            throw new IllegalArgumentException("shape " + shape + " of " + type + " has " + bytes + " bytes, but ["
                    + begin + ", " + end + "] are " + (end - begin));
        }
    }

    /** Number of bytes. */
    public long bytes() {
        return end - begin;
    }

    /**
     * The type it has as a tensor.
     *
     * @throws TpException if the library has no tensors of {@link #type()}
     */
    public DType dtype() {
        return type.dtype().orElseThrow(() -> new TpException("tensor " + Quoted.of(name) + " " + noTensorType(type)));
    }

    static String noTensorType(SafetensorsType type) {
        return "has type " + type + ", of which there are no tensors here; HINT: read(name) gives its raw bytes";
    }
}
