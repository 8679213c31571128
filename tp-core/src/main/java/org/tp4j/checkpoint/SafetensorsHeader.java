package org.tp4j.checkpoint;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;

/**
 * A header, checked against its file.
 *
 * @param entries the tensors by name, in the header's order
 * @param metadata free text by name
 * @param dataBegin position in the file at which the tensors' bytes begin
 */
record SafetensorsHeader(Map<String, SafetensorsEntry> entries, Map<String, String> metadata, long dataBegin) {
    /** The limit of the format's reference implementation. */
    static final int MAX_HEADER_BYTES = 100_000_000;

    /** Bytes of the length before the header. */
    static final int PREFIX_BYTES = Long.BYTES;

    static SafetensorsHeader read(FileBytes file) {
        long size = file.size();
        if (size < PREFIX_BYTES) {
            throw new SafetensorsException(
                    file.file(),
                    null,
                    "has " + size + " bytes, too few for the " + PREFIX_BYTES + "-byte header length it must begin"
                            + " with; HINT: it is not a safetensors file, or was cut short: copy it again");
        }
        ByteBuffer prefix = ByteBuffer.allocate(PREFIX_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file.read(prefix, 0, null);
        long length = prefix.getLong(0);
        if (length < 0 || length > size - PREFIX_BYTES) {
            throw new SafetensorsException(
                    file.file(),
                    null,
                    "header length " + Long.toUnsignedString(length) + " reaches beyond the file of " + size
                            + " bytes; HINT: it is not a safetensors file, or was cut short: copy it again");
        }
        if (length > MAX_HEADER_BYTES) {
            throw new SafetensorsException(
                    file.file(),
                    null,
                    "header length " + length + " is above the format's limit of " + MAX_HEADER_BYTES + " bytes");
        }
        ByteBuffer text = ByteBuffer.allocate((int) length);
        file.read(text, PREFIX_BYTES, null);
        long dataBegin = PREFIX_BYTES + length;
        HeaderParser.Result parsed = new HeaderParser(file.file()).parse(text.array());
        HeaderRanges.check(file.file(), parsed.entries().values(), size - dataBegin);
        return new SafetensorsHeader(parsed.entries(), parsed.metadata(), dataBegin);
    }
}
