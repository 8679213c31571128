package org.tp4j.tests;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import org.tp4j.tensor.NdArray;

/** Puts pieces of a tensor together, byte by byte. */
final class Shards {
    private Shards() {}

    static byte[] bytes(NdArray array) {
        ByteBuffer bytes =
                ByteBuffer.allocate((int) array.elements() * array.dtype().bytes());
        array.backend().copyOut(array, bytes);
        return bytes.array();
    }

    /** The bytes of the tensor whose pieces along {@code dim} these are. */
    static byte[] join(List<NdArray> pieces, int dim) {
        int outer = (int) pieces.get(0).shape().product(0, dim);
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < outer; i++) {
            for (NdArray piece : pieces) {
                byte[] bytes = bytes(piece);
                joined.write(bytes, i * (bytes.length / outer), bytes.length / outer);
            }
        }
        return joined.toByteArray();
    }
}
