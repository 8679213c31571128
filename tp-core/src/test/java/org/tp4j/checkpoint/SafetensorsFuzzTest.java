package org.tp4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Mutated files are read right or refused by {@link SafetensorsException}, and never cost much memory. */
class SafetensorsFuzzTest {
    private static final int FILES = 1500;

    /** Parser buffers and exceptions; a length or shape that were believed would ask for megabytes at least. */
    private static final long MAX_ALLOCATED_BYTES = 1 << 20;

    private static final List<String> PIECES = List.of(
            "0",
            "1",
            "-1",
            "2",
            "4",
            "8",
            "255",
            "4294967296",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "1e9",
            "0.5",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"",
            "\"a\"",
            "\"F32\"",
            "\"F64\"",
            "\"U8\"",
            "\"F4\"",
            "\"BOOL\"",
            "\"shape\"",
            "\"dtype\"",
            "\"data_offsets\"",
            "\"__metadata__\"",
            "null",
            "true",
            "{}",
            "[]",
            "\\u0061",
            "\\ud800",
            "\u00e9",
            "\ud83d\ude00",
            "\0",
            " ",
            "\n");

    @TempDir
    Path folder;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldReadRightOrRefuse(long seed) throws IOException {
        Random random = new Random(seed);
        ThreadMXBean memory = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Path path = folder.resolve("fuzzed.safetensors");
        int accepted = 0;
        for (int i = 0; i < FILES; i++) {
            byte[] content = mutate(random, valid(random));
            Files.write(path, content);
            String what = "seed " + seed + ", file " + i + ": " + new String(content, StandardCharsets.ISO_8859_1);
            long before = memory.getCurrentThreadAllocatedBytes();
            try (SafetensorsFile file = SafetensorsFile.open(path)) {
                accepted++;
                checkConsistent(file, content, what);
            } catch (SafetensorsException e) {
                assertThat(e.file()).as(what).isEqualTo(path);
                assertThat(e.reason()).as(what).isNotEmpty().hasSizeLessThan(1000);
            } catch (RuntimeException e) {
                throw new AssertionError(what, e);
            }
            assertThat(memory.getCurrentThreadAllocatedBytes() - before)
                    .as(what)
                    .isLessThan(MAX_ALLOCATED_BYTES);
        }
        assertThat(accepted).as("accepted of " + FILES).isBetween(FILES / 20, FILES * 19 / 20);
    }

    /** Every byte after the header belongs to one tensor, and reading gives it. */
    private static void checkConsistent(SafetensorsFile file, byte[] content, String what) {
        long header = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).getLong();
        int owned = 0;
        for (String name : file.names()) {
            SafetensorsEntry entry = file.entry(name);
            int begin = (int) (8 + header + entry.begin());
            assertThat(entry.bytes()).isEqualTo(entry.type().bytes(entry.shape()));
            if (!file.read(name).equals(ByteBuffer.wrap(content, begin, (int) entry.bytes()))) {
                throw new AssertionError(what + " tensor " + name);
            }
            owned += (int) entry.bytes();
        }
        assertThat(8 + header + owned).as(what).isEqualTo(content.length);
    }

    private static byte[] valid(Random random) {
        StringBuilder header = new StringBuilder("{");
        if (random.nextBoolean()) {
            header.append("\"__metadata__\":{\"format\":\"pt\",\"\":\"\"},");
        }
        int at = 0;
        int tensors = 1 + random.nextInt(4);
        for (int i = 0; i < tensors; i++) {
            SafetensorsType type = SafetensorsType.values()[random.nextInt(SafetensorsType.values().length)];
            long[] sizes = random.longs(random.nextInt(4), 0, 4).toArray();
            if (sizes.length > 0 && type.bits() < 8) {
                sizes[0] *= 8;
            } else if (type.bits() < 8) {
                sizes = new long[] {8};
            }
            int end = at + (int) (Arrays.stream(sizes).reduce(1, (a, b) -> a * b) * type.bits() / 8);
            header.append(i == 0 ? "" : ",")
                    .append("\"t")
                    .append(i)
                    .append("\":{\"dtype\":\"")
                    .append(type)
                    .append("\",\"shape\":")
                    .append(Arrays.toString(sizes))
                    .append(",\"data_offsets\":[")
                    .append(at)
                    .append(',')
                    .append(end)
                    .append("]}");
            at = end;
        }
        byte[] data = new byte[at];
        random.nextBytes(data);
        return TestFiles.of(
                header.append("}").append(" ".repeat(random.nextInt(8))).toString(), data);
    }

    private static byte[] mutate(Random random, byte[] file) {
        int header = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).getInt();
        List<byte[]> parts = new ArrayList<>();
        byte[] text = Arrays.copyOfRange(file, 8, 8 + header);
        byte[] data = Arrays.copyOfRange(file, 8 + header, file.length);
        int changes = random.nextInt(3);
        for (int i = 0; i < changes; i++) {
            text = mutateText(random, text);
        }
        if (random.nextInt(8) == 0) {
            data = Arrays.copyOf(data, random.nextInt(data.length + 9));
        }
        long length = switch (random.nextInt(16)) {
            case 0 -> random.nextLong();
            case 1 -> text.length + random.nextInt(9) - 4;
            case 2 -> 1L << random.nextInt(64);
            default -> text.length;
        };
        parts.add(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(length)
                .array());
        parts.add(text);
        parts.add(data);
        ByteBuffer whole =
                ByteBuffer.allocate(parts.stream().mapToInt(p -> p.length).sum());
        parts.forEach(whole::put);
        return random.nextInt(32) == 0 ? Arrays.copyOf(whole.array(), random.nextInt(whole.limit())) : whole.array();
    }

    private static byte[] mutateText(Random random, byte[] text) {
        if (text.length == 0) {
            return text;
        }
        int from = random.nextInt(text.length);
        int to = Math.min(text.length, from + random.nextInt(5));
        byte[] inserted = switch (random.nextInt(4)) {
            case 0 -> new byte[] {(byte) random.nextInt(256)};
            case 1 -> Arrays.copyOfRange(text, from, Math.min(text.length, from + random.nextInt(60)));
            case 2 -> new byte[0];
            default -> PIECES.get(random.nextInt(PIECES.size())).getBytes(StandardCharsets.UTF_8);
        };
        byte[] result = Arrays.copyOf(text, text.length - (to - from) + inserted.length);
        System.arraycopy(inserted, 0, result, from, inserted.length);
        System.arraycopy(text, to, result, from + inserted.length, text.length - to);
        return result;
    }
}
