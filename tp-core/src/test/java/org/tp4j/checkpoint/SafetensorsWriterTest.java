package org.tp4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;

/** What is written, in which order, and that it appears whole or not at all. */
class SafetensorsWriterTest {
    @TempDir
    Path folder;

    private Path path;

    @BeforeEach
    void choosePath() {
        path = folder.resolve("out.safetensors");
    }

    @Test
    void shouldWriteTheReferenceImplementationsBytes() throws IOException {
        // From the reference's own tests: one F32 tensor of shape [1, 1, 2, 3] called attn0, padded by seven blanks.
        byte[] data = new byte[24];
        new Random(1).nextBytes(data);
        new SafetensorsWriter(path)
                .add("attn0", DType.FLOAT32, Shape.of(1, 1, 2, 3), ByteBuffer.wrap(data))
                .write();
        String header = "{\"attn0\":{\"dtype\":\"F32\",\"shape\":[1,1,2,3],\"data_offsets\":[0,24]}}       ";
        assertThat(Files.readAllBytes(path)).isEqualTo(TestFiles.of(header, data));

        new SafetensorsWriter(path).metadata("framework", "pt").write();
        assertThat(Files.readAllBytes(path)).isEqualTo(TestFiles.of("{\"__metadata__\":{\"framework\":\"pt\"}}     "));
    }

    @Test
    void shouldWriteWideTypesFirstThenByNameWhateverTheOrderOfAdding() throws IOException {
        List<String> names = new ArrayList<>(List.of("b1", "u8", "f16", "bf16", "f32.B", "f32.a", "i64"));
        List<byte[]> files = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            SafetensorsWriter writer = new SafetensorsWriter(path);
            for (String name : names) {
                SafetensorsType type = name.equals("b1")
                        ? SafetensorsType.BOOL
                        : SafetensorsType.of(name.split("\\.")[0].toUpperCase()).orElseThrow();
                writer.add(name, type, Shape.of(3), ByteBuffer.allocate(3 * type.bits() / 8));
            }
            assertThat(writer.names()).containsExactly("i64", "f32.B", "f32.a", "bf16", "f16", "u8", "b1");
            writer.write();
            files.add(Files.readAllBytes(path));
            Collections.shuffle(names, new Random(i));
        }
        assertThat(files).allSatisfy(file -> assertThat(file).isEqualTo(files.get(0)));
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            for (String name : file.names()) {
                SafetensorsEntry entry = file.entry(name);
                assertThat(entry.begin() * 8 % entry.type().bits()).isZero();
            }
        }
    }

    @Test
    void shouldOrderNamesByTheirBytes() {
        // In UTF-16 the emoji's first half comes before U+FFEE, in UTF-8 after.
        SafetensorsWriter writer = new SafetensorsWriter(path);
        for (String name : List.of("\ud83d\ude00", "\uffee", "z")) {
            writer.add(name, DType.BOOL, Shape.of(0), ByteBuffer.allocate(0));
        }
        assertThat(writer.names()).containsExactly("z", "\uffee", "\ud83d\ude00");
    }

    @Test
    void shouldWriteArraysLargerThanItsBuffer() throws IOException {
        byte[] data = new byte[9_000_001 * 2];
        new Random(2).nextBytes(data);
        MemoryBackend backend = new MemoryBackend();
        NdArray array = backend.array(DType.BFLOAT16, Shape.of(9_000_001), data);
        new SafetensorsWriter(path)
                .add("all", array)
                .add("window", array.window(5, Shape.of(3)))
                .add("empty", array.window(5, Shape.of(0, 3)))
                .write();
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.read("all")).isEqualTo(ByteBuffer.wrap(data));
            assertThat(file.read("window")).isEqualTo(ByteBuffer.wrap(data, 10, 6));
            assertThat(file.entry("empty").shape()).isEqualTo(Shape.of(0, 3));
        }
    }

    @Test
    void shouldCallSourcesInOrder() {
        List<String> called = new ArrayList<>();
        new SafetensorsWriter(path)
                .add("b", SafetensorsType.U8, Shape.of(2), out -> {
                    called.add("b");
                    out.accept(ByteBuffer.wrap(new byte[] {1}));
                    out.accept(ByteBuffer.allocate(0));
                    out.accept(ByteBuffer.wrap(new byte[] {2}));
                })
                .add("a", SafetensorsType.U8, Shape.of(1), out -> {
                    called.add("a");
                    out.accept(ByteBuffer.wrap(new byte[] {3}).asReadOnlyBuffer());
                })
                .write();
        assertThat(called).containsExactly("a", "b");
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.read("b")).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2}));
        }
    }

    @Test
    void shouldLeaveTheCallersBufferAlone() {
        ByteBuffer data = ByteBuffer.wrap(new byte[] {0, 1, 2, 3}).position(1).limit(3);
        SafetensorsWriter writer = new SafetensorsWriter(path).add("a", SafetensorsType.U8, Shape.of(2), data);
        assertThat(data.remaining()).isEqualTo(2);
        data.position(3);
        writer.write();
        writer.write();
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.read("a")).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2}));
        }
    }

    @Test
    void shouldLeaveWhatWasThereWhenWritingFails() throws IOException {
        new SafetensorsWriter(path).metadata("version", "1").write();
        byte[] before = Files.readAllBytes(path);
        SafetensorsWriter shortOfBytes = new SafetensorsWriter(path)
                .add("a", SafetensorsType.U8, Shape.of(9), out -> out.accept(ByteBuffer.allocate(4)));
        assertThatThrownBy(shortOfBytes::write)
                .isInstanceOf(SafetensorsException.class)
                .hasMessage(path + ": tensor 'a': its source gave 4 of its 9 bytes");
        SafetensorsWriter generous = new SafetensorsWriter(path)
                .add("a", SafetensorsType.U8, Shape.of(9), out -> out.accept(ByteBuffer.allocate(10)));
        assertThatThrownBy(generous::write).hasMessageEndingWith("its source gives more than its 9 bytes");
        SafetensorsWriter failing = new SafetensorsWriter(path).add("a", SafetensorsType.U8, Shape.of(9), out -> {
            out.accept(ByteBuffer.allocate(4));
            throw new IllegalStateException("a rank has died");
        });
        assertThatThrownBy(failing::write)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("a rank has died");
        SafetensorsWriter outOfMemory = new SafetensorsWriter(path).add("a", SafetensorsType.U8, Shape.of(9), out -> {
            throw new OutOfMemoryError();
        });
        assertThatThrownBy(outOfMemory::write).isInstanceOf(OutOfMemoryError.class);
        assertThat(Files.readAllBytes(path)).isEqualTo(before);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(path);
        }
    }

    @Test
    void shouldShowNothingUnderTheNameBeforeAllIsWritten() {
        new SafetensorsWriter(path)
                .add("a", SafetensorsType.U8, Shape.of(1), out -> {
                    assertThat(path).doesNotExist();
                    out.accept(ByteBuffer.allocate(1));
                })
                .write();
        assertThat(path).exists();
    }

    @Test
    void shouldGiveFilesTheUsualRights() throws IOException {
        Path usual = Files.createFile(folder.resolve("usual"));
        new SafetensorsWriter(path).write();
        assertThat(permissions(path)).isEqualTo(permissions(usual));
    }

    private static Set<PosixFilePermission> permissions(Path file) throws IOException {
        boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
        return posix ? Files.getPosixFilePermissions(file) : Set.of();
    }

    @Test
    void shouldSayWhyItCannotWrite() {
        assertThatThrownBy(new SafetensorsWriter(folder)::write)
                .isInstanceOf(SafetensorsException.class)
                .hasMessage(folder + ": cannot be written: it is a folder");
        Path nowhere = folder.resolve("no/such.safetensors");
        assertThatThrownBy(new SafetensorsWriter(nowhere)::write)
                .isInstanceOf(SafetensorsException.class)
                .hasMessage(nowhere + ": cannot be written: there is no folder " + nowhere.getParent()
                        + "; HINT: create it first");
    }

    @Test
    void shouldRefuseWhatNoFileCanHold() {
        SafetensorsWriter writer = new SafetensorsWriter(path).metadata("k", "v");
        ByteBuffer four = ByteBuffer.allocate(4);
        Shape one = Shape.of(1);
        writer.add("a", DType.FLOAT32, one, four);
        refused(
                () -> writer.add("a", DType.FLOAT32, one, four),
                "tensor 'a': is added twice; HINT: a shared tensor is");
        refused(() -> writer.add("__metadata__", DType.FLOAT32, one, four), "is the name of the metadata; HINT: give");
        refused(() -> writer.add("b", DType.FLOAT64, one, four), "shape [1] of F64 has 8 bytes, but 4 were given");
        refused(
                () -> writer.add("\ud800", DType.FLOAT32, one, four),
                "tensor name '\\ud800' holds an unpaired surrogate");
        refused(() -> writer.metadata("k", "w"), "metadata 'k' is added twice");
        refused(() -> writer.metadata("l", "\udc00"), "metadata value '\\udc00' holds an unpaired surrogate");
        long[] many = new long[65];
        Arrays.fill(many, 1);
        refused(() -> writer.add("b", DType.FLOAT32, Shape.of(many), four), "has 65 dimensions; 64 are allowed");
        refused(
                () -> writer.add("b", SafetensorsType.F64, Shape.of(Long.MAX_VALUE), out -> {}),
                "of F64 has more than 2^63 - 1 bytes");
        refused(() -> writer.add("b", SafetensorsType.F4, Shape.of(3), out -> {}), "not a whole number of bytes");
        assertThat(writer.names()).containsExactly("a");
        SafetensorsWriter vast = new SafetensorsWriter(path);
        vast.add("a", SafetensorsType.I8, Shape.of(Long.MAX_VALUE), out -> {});
        vast.add("b", SafetensorsType.I8, Shape.of(1), out -> {});
        refused(vast::write, "its header cannot be made: long overflow");
        String text = "x".repeat(50_000_000);
        SafetensorsWriter wordy =
                new SafetensorsWriter(path).metadata("a", text).metadata("b", text);
        refused(wordy::write, "is above the format's limit of 100000000; HINT: spread the tensors over several files");
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldEscapeWhatJsonMustAndNothingElse() throws IOException {
        new SafetensorsWriter(path)
                .metadata("a\"\\\u0001", "\u4e16\ud83d\ude00")
                .write();
        String text = new String(Files.readAllBytes(path), StandardCharsets.UTF_8).substring(8);
        assertThat(text.strip()).isEqualTo("{\"__metadata__\":{\"a\\\"\\\\\\u0001\":\"\u4e16\ud83d\ude00\"}}");
    }

    private static void refused(ThrowingCallable call, String reason) {
        assertThatThrownBy(call).isInstanceOf(SafetensorsException.class).hasMessageContaining(reason);
    }
}
