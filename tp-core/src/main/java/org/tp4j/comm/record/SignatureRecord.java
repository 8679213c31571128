package org.tp4j.comm.record;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/**
 * A call's signature as a few longs that ranks can exchange.
 *
 * @param hash hash of what must be the same on all ranks
 * @param refused whether the rank's arguments were refused
 * @param text the call and where it was made, truncated to what fits
 */
record SignatureRecord(long hash, boolean refused, String text) {
    /** Longs per record. */
    static final int LONGS = 64;

    private static final int HEADER_BYTES = 3 * Long.BYTES;

    static SignatureRecord of(CollectiveCall call, String text) {
        return new SignatureRecord(hash(call.signature()), false, text);
    }

    private static long hash(String text) {
        long hash = 0xcbf29ce484222325L; // FNV-1a, 64 bits
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash;
    }

    /** This record as an array, in the current scope. */
    NdArray toArray(Backend backend) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, LONGS * Long.BYTES - HEADER_BYTES);
        ByteBuffer buffer = ByteBuffer.allocate(LONGS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(hash).putLong(refused ? 1 : 0).putLong(length).put(bytes, 0, length);
        buffer.rewind();
        NdArray array = NdArray.allocate(backend, DType.INT64, Shape.of(LONGS));
        backend.copyIn(buffer, array);
        return array;
    }

    /** The records in an array. */
    static SignatureRecord[] read(NdArray array) {
        ByteBuffer buffer =
                ByteBuffer.allocate((int) array.elements() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        array.backend().copyOut(array, buffer);
        SignatureRecord[] records = new SignatureRecord[(int) array.elements() / LONGS];
        for (int i = 0; i < records.length; i++) {
            buffer.position(i * LONGS * Long.BYTES);
            long hash = buffer.getLong();
            boolean refused = buffer.getLong() != 0;
            byte[] text = new byte[(int) buffer.getLong()];
            buffer.get(text);
            records[i] = new SignatureRecord(hash, refused, new String(text, StandardCharsets.UTF_8));
        }
        return records;
    }
}
