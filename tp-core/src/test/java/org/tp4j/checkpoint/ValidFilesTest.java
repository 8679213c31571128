package org.tp4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** Unusual files that the format allows are read, and come out the same when written again. */
class ValidFilesTest {
    @TempDir
    Path folder;

    static Stream<Arguments> caseA37() throws IOException {
        Map<String, Object> json = TestFiles.loadCase("A37");
        return ((Map<?, ?>) json.get("files")).entrySet().stream().map(file -> {
            Map<?, ?> content = (Map<?, ?>) file.getValue();
            Object metadata = file.getKey().equals("metadata") ? json.get("metadata_of_metadata") : Map.of();
            return Arguments.of(
                    file.getKey(),
                    HexFormat.of().parseHex((String) content.get("hex")),
                    content.get("expect"),
                    metadata);
        });
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("caseA37")
    void shouldReadUnusualFileOfCaseA37(
            String name, byte[] bytes, Map<String, Map<String, ?>> expected, Object metadata) throws IOException {
        Path path = TestFiles.write(folder, bytes);
        checkContent(path, expected, metadata);

        Path again = folder.resolve("again.safetensors");
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            SafetensorsWriter writer = new SafetensorsWriter(again);
            file.metadata().forEach(writer::metadata);
            for (String tensor : file.names()) {
                NdArray array = NdArray.allocate(
                        new MemoryBackend(),
                        file.entry(tensor).dtype(),
                        file.entry(tensor).shape());
                file.readInto(tensor, array);
                writer.add(tensor, array);
            }
            writer.write();
        }
        checkContent(again, expected, metadata);
        assertThat(ByteBuffer.wrap(Files.readAllBytes(again))
                                .order(ByteOrder.LITTLE_ENDIAN)
                                .getLong()
                        % 8)
                .isZero();
    }

    private static void checkContent(Path path, Map<String, Map<String, ?>> expected, Object metadata) {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.names()).hasSameElementsAs(expected.keySet());
            assertThat(file.metadata()).isEqualTo(metadata);
            expected.forEach((tensor, about) -> {
                assertThat(file.entry(tensor).type().name()).isEqualTo(about.get("dtype"));
                assertThat(numbers(file.entry(tensor).shape())).isEqualTo(about.get("shape"));
                List<Double> values = new ArrayList<>();
                ByteBuffer bytes = file.read(tensor);
                while (bytes.hasRemaining()) {
                    values.add(
                            about.get("dtype").equals("BF16")
                                    ? (double) Float.intBitsToFloat(bytes.getShort() << 16)
                                    : (double) bytes.getFloat());
                }
                assertThat(values)
                        .isEqualTo(((List<?>) about.get("values"))
                                .stream().map(v -> Double.valueOf(v.toString())).toList());
            });
        }
    }

    private static List<Double> numbers(Shape shape) {
        List<Double> sizes = new ArrayList<>();
        for (long size : shape.toArray()) {
            sizes.add((double) size);
        }
        return sizes;
    }

    @Test
    void shouldListTensorsInTheOrderOfTheHeader() throws IOException {
        Map<?, ?> files = (Map<?, ?>) TestFiles.loadCase("A37").get("files");
        Map<?, ?> swapped = (Map<?, ?>) files.get("header_order_differs_from_data_order");
        Path path = TestFiles.write(folder, HexFormat.of().parseHex((String) swapped.get("hex")));
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.names()).containsExactly("b", "a");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadTheBytesOfEveryTypeAndWriteThemAgain(SafetensorsType type) throws IOException {
        byte[] data = new byte[type.bits()]; // eight elements
        data[0] = 1;
        String header = "{\"t\":{\"dtype\":\"" + type + "\",\"shape\":[2,4],\"data_offsets\":[0," + data.length + "]}}";
        Path path = TestFiles.write(folder, TestFiles.of(header, data));
        Path again = folder.resolve("again");
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.entry("t")).isEqualTo(new SafetensorsEntry("t", type, Shape.of(2, 4), 0, data.length));
            new SafetensorsWriter(again)
                    .add("t", type, Shape.of(2, 4), file.read("t"))
                    .write();
        }
        try (SafetensorsFile file = SafetensorsFile.open(again)) {
            assertThat(file.entry("t").type()).isEqualTo(type);
            assertThat(file.read("t")).isEqualTo(ByteBuffer.wrap(data));
        }
    }

    @Test
    void shouldReadAFileWithoutTensors() throws IOException {
        for (String header : List.of("{}", "{}      ", "{ \n}\t\r\n", "{\"__metadata__\":{}}")) {
            try (SafetensorsFile file = SafetensorsFile.open(TestFiles.write(folder, TestFiles.of(header)))) {
                assertThat(file.names()).isEmpty();
                assertThat(file.metadata()).isEmpty();
            }
        }
    }

    @Test
    void shouldReadNamesOfAllKinds() throws IOException {
        List<String> names = List.of(
                "", " ", "a.b/c:d", "\u4e16\u754c", "\ud83d\ude00", "q\"\\\n\0", "__metadata", "x".repeat(70_000));
        Path path = folder.resolve("names");
        SafetensorsWriter writer = new SafetensorsWriter(path);
        for (String name : names) {
            byte[] own = {(byte) name.length()};
            writer.add(name, SafetensorsType.U8, Shape.of(1), ByteBuffer.wrap(own))
                    .metadata(name, name);
        }
        writer.write();
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.names()).containsExactlyInAnyOrderElementsOf(names);
            assertThat(file.metadata().keySet()).containsExactlyElementsOf(names);
            for (String name : names) {
                assertThat(file.read(name).get()).isEqualTo((byte) name.length());
                assertThat(file.metadata()).containsEntry(name, name);
            }
        }
        String escaped = "{\"\\u0061\\ud83d\\ude00\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}";
        try (SafetensorsFile file = SafetensorsFile.open(TestFiles.write(folder, TestFiles.of(escaped)))) {
            assertThat(file.names()).containsExactly("a\ud83d\ude00");
        }
    }

    @Test
    void shouldReadZeroSizesBesideHugeOnes() throws IOException {
        String header = "{\"t\":{\"dtype\":\"F64\",\"shape\":[0,9223372036854775807,9],\"data_offsets\":[0,0]}}";
        try (SafetensorsFile file = SafetensorsFile.open(TestFiles.write(folder, TestFiles.of(header)))) {
            assertThat(file.entry("t").shape()).isEqualTo(Shape.of(0, Long.MAX_VALUE, 9));
            assertThat(file.read("t").hasRemaining()).isFalse();
            NdArray empty = NdArray.allocate(
                    new MemoryBackend(),
                    file.entry("t").dtype(),
                    file.entry("t").shape());
            file.readInto("t", empty);
        }
    }

    @Test
    void shouldNotMindManyTensorsWhoseNamesCollide() throws IOException {
        // "Aa" and "BB" have one hash code, and so have all strings made of them.
        StringBuilder header = new StringBuilder("{");
        int count = 1 << 14;
        for (int i = 0; i < count; i++) {
            for (int bit = 0; bit < 14; bit++) {
                header.append(bit == 0 ? i == 0 ? "\"" : ",\"" : "").append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            header.append("\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
        }
        Path path = TestFiles.write(folder, TestFiles.of(header.append("}").toString()));
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.names()).hasSize(count);
        }
    }
}
