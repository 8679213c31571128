package org.tp4j.cuda.internal.compile;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * Machine code of a GPU, as much as can be told of it without a disassembler: since sm_70 an instruction is 16 bytes long, its
 * lowest 12 bits say what it is, and three bits of the upper half how wide a store is. {@link MachineCodeTest} checks that
 * with stores of known width.
 */
final class Cubin {
    private static final String CODE = ".text.";
    private static final int SECTION_TABLE = 40;
    private static final int SECTION_COUNT = 60;
    private static final int NAME_SECTION = 62;
    private static final int SECTION_BYTES = 64;
    private static final int INSTRUCTION_BYTES = 16;
    private static final int STORE_GLOBAL = 0x986;
    private static final int[] WIDTHS = {1, 1, 2, 2, 4, 8, 16, 32};

    private final ByteBuffer file;

    Cubin(Path path) throws IOException {
        file = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** How many stores to device memory each kernel has, by their width in bytes. */
    Map<String, Map<Integer, Integer>> stores() {
        Map<String, Map<Integer, Integer>> all = new TreeMap<>();
        for (int i = 0; i < file.getShort(SECTION_COUNT); i++) {
            int section = section(i);
            String name = name(section);
            if (name.startsWith(CODE)) {
                all.put(name.substring(CODE.length()), stores(offset(section), (int) file.getLong(section + 32)));
            }
        }
        return all;
    }

    private Map<Integer, Integer> stores(int from, int bytes) {
        Map<Integer, Integer> widths = new TreeMap<>();
        for (int at = from; at + INSTRUCTION_BYTES <= from + bytes; at += INSTRUCTION_BYTES) {
            if ((file.getLong(at) & 0xfff) == STORE_GLOBAL) {
                int width = WIDTHS[(int) (file.getLong(at + 8) >>> 9 & 7)];
                widths.merge(width, 1, Integer::sum);
            }
        }
        return widths;
    }

    private int section(int index) {
        return (int) file.getLong(SECTION_TABLE) + index * SECTION_BYTES;
    }

    private int offset(int section) {
        return (int) file.getLong(section + 24);
    }

    private String name(int section) {
        int start = offset(section(file.getShort(NAME_SECTION))) + file.getInt(section);
        int end = start;
        while (file.get(end) != 0) {
            end++;
        }
        return new String(file.array(), start, end - start, StandardCharsets.US_ASCII);
    }
}
