package org.tp4j.checkpoint;

import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.TpException;

/**
 * The header's description of one tensor.
 *
 * @param name its name
 * @param type its element type, by the format's name
 * @param shape its shape; may be a scalar's, or have sizes of 0
 * @param begin where its bytes begin, relative to the first byte after the header
 * @param end where they end, exclusive
 */
public record SafetensorsEntry(String name, SafetensorsType type, Shape shape, long begin, long end) {
    /**
     * Checks that the range is valid and has as many bytes as shape and type need.
     *
     * @throws IllegalArgumentException if not
     */
    public SafetensorsEntry {
        if (begin < 0 || begin > end) {
            throw new IllegalArgumentException("[" + begin + ", " + end + "] is not a range of bytes");
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
     * Its type as a tensor.
     *
     * @throws TpException if the library has no tensors of type {@link #type()}
     */
    public DType dtype() {
        return type.dtype().orElseThrow(() -> new TpException("tensor " + Quoted.of(name) + " " + noTensorType(type)));
    }

    static String noTensorType(SafetensorsType type) {
        return "has type " + type + ", which tensors here cannot have; HINT: read(name) returns its raw bytes";
    }
}
