package org.tp4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.TpException;

/** Reading tensors, parts of tensors, and what is refused. */
class SafetensorsFileTest {
    private static final Shape WIDE = Shape.of(300, 5000); // 6 MB: more than is read at once

    private final MemoryBackend backend = new MemoryBackend();
    private final byte[] wide = new byte[(int) WIDE.elements() * 4];
    private Path path;

    @BeforeEach
    void writeFile(@TempDir Path folder) {
        path = folder.resolve("model.safetensors");
        new Random(7).nextBytes(wide);
        new SafetensorsWriter(path)
                .add("wide", DType.FLOAT32, WIDE, ByteBuffer.wrap(wide))
                .add("mask", DType.BOOL, Shape.of(4), ByteBuffer.wrap(new byte[] {0, 1, 1, 0}))
                .add("bad mask", DType.BOOL, Shape.of(4), ByteBuffer.wrap(new byte[] {0, 1, 1, -1}))
                .add("scale", SafetensorsType.F8_E4M3, Shape.of(2), ByteBuffer.wrap(new byte[] {5, 6}))
                .add("scalar", DType.INT64, Shape.scalar(), ByteBuffer.wrap(new byte[] {9, 0, 0, 0, 0, 0, 0, 0}))
                .write();
    }

    @Test
    void shouldReadLittleEndianBytes() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.read("scalar").getLong()).isEqualTo(9);
            assertThat(file.read("wide")).isEqualTo(ByteBuffer.wrap(wide));
            assertThat(file.contains("wide")).isTrue();
            assertThat(file.contains("narrow")).isFalse();
        }
    }

    @Test
    void shouldReadPieces() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            ByteBuffer piece = ByteBuffer.allocateDirect(1000);
            file.read("wide", wide.length - 1000, piece);
            assertThat(piece.flip()).isEqualTo(ByteBuffer.wrap(wide, wide.length - 1000, 1000));
            piece.clear().position(990);
            file.read("wide", 77, piece);
            assertThat(piece.flip().position(990)).isEqualTo(ByteBuffer.wrap(wide, 77, 10));
            piece.clear().limit(3);
            assertThatThrownBy(() -> file.read("scale", 0, piece))
                    .isInstanceOf(SafetensorsException.class)
                    .hasMessageEndingWith("tensor 'scale': 3 bytes from byte 0 were requested of its 2");
            assertThatThrownBy(() -> file.read("scale", -1, piece))
                    .hasMessageEndingWith("3 bytes from byte -1 were requested of its 2");
            assertThatThrownBy(() -> file.read("scale", Long.MAX_VALUE, piece))
                    .isInstanceOf(SafetensorsException.class);
            assertThat(piece.position()).isZero();
        }
    }

    @Test
    void shouldFillArrays() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            NdArray array = NdArray.allocate(backend, DType.FLOAT32, WIDE);
            file.readInto("wide", array);
            assertThat(MemoryBackend.bytes(array)).isEqualTo(wide);
            assertThat(array.storage().version()).isEqualTo(1);
            NdArray mask = NdArray.allocate(backend, DType.BOOL, Shape.of(4));
            file.readInto("mask", mask);
            assertThat(MemoryBackend.bytes(mask)).containsExactly(0, 1, 1, 0);
        }
    }

    @Test
    void shouldFillAWindowAndNothingAroundIt() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            NdArray around = backend.array(DType.BOOL, Shape.of(8), new byte[] {7, 7, 7, 7, 7, 7, 7, 7});
            file.readInto("mask", around.window(3, Shape.of(4)));
            assertThat(MemoryBackend.bytes(around)).containsExactly(7, 7, 7, 0, 1, 1, 0, 7);
        }
    }

    @Test
    void shouldGiveEachRankItsShard() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            int ranks = 3;
            for (int rank = 0; rank < ranks; rank++) {
                int columns = 5000 / 4;
                Region shard = new Region(WIDE, Shape.of(300, columns), new long[] {0, (long) rank * columns});
                NdArray array = NdArray.allocate(backend, DType.FLOAT32, shard.local());
                file.readRegion("wide", shard, array);
                ByteBuffer actual = ByteBuffer.wrap(MemoryBackend.bytes(array));
                for (int row = 0; row < 300; row++) {
                    int from = (row * 5000 + rank * columns) * 4;
                    assertThat(actual.slice(row * columns * 4, columns * 4))
                            .isEqualTo(ByteBuffer.wrap(wide, from, columns * 4));
                }
            }
        }
    }

    @Test
    void shouldRefuseWhatDoesNotFitBeforeAnythingIsChanged() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            NdArray four = NdArray.allocate(backend, DType.BOOL, Shape.of(4));
            refused(() -> file.readInto("absent", four))
                    .hasMessage(path + ": tensor 'absent': is not in the file, which has 5 tensors: 'scalar', 'wide',"
                            + " 'scale', 'bad mask', 'mask'");
            refused(() -> file.readInto("scalar", NdArray.allocate(backend, DType.INT32, Shape.scalar())))
                    .hasMessageEndingWith(
                            "has type int64, but was to be read into int32; HINT: read it as int64 and cast");
            refused(() -> file.readInto("mask", NdArray.allocate(backend, DType.BOOL, Shape.of(2, 2))))
                    .hasMessageEndingWith("a region of shape [4] was to be read into an array of [2, 2]");
            refused(() -> file.readRegion("mask", Region.whole(Shape.of(5)), four))
                    .hasMessageEndingWith("has shape [4], but a region of shape [5] was requested");
            refused(() -> file.readInto("scale", four))
                    .hasMessageEndingWith("tensor 'scale': has type F8_E4M3, which tensors here cannot have; HINT:"
                            + " read(name) returns its raw bytes");
            refused(() -> file.readInto("bad mask", four))
                    .hasMessageEndingWith(
                            "holds the truth value 255; HINT: only 0 and 1 are valid; read(name) returns the raw"
                                    + " bytes");
            assertThat(backend.copies()).isZero();
            assertThat(four.storage().version()).isZero();
            assertThat(file.read("scale")).isEqualTo(ByteBuffer.wrap(new byte[] {5, 6}));
            assertThatThrownBy(() -> file.entry("scale").dtype())
                    .isInstanceOf(TpException.class)
                    .hasMessageStartingWith("tensor 'scale' has type F8_E4M3, which tensors here cannot have");
        }
    }

    private static AbstractThrowableAssert<?, ?> refused(ThrowingCallable call) {
        return assertThatThrownBy(call).isInstanceOf(SafetensorsException.class);
    }

    @Test
    void shouldReadTensorsAbove2GiB(@TempDir Path folder) throws IOException {
        // 3 Gi elements, 12 GiB, nearly all of them a hole that takes no disk.
        long rows = 3L << 20;
        String header =
                "{\"t\":{\"dtype\":\"F32\",\"shape\":[" + rows + ",1024],\"data_offsets\":[0," + rows * 4096 + "]}}";
        Path sparse = TestFiles.write(folder, TestFiles.of(header));
        long dataBegin = Files.size(sparse);
        try (RandomAccessFile out = new RandomAccessFile(sparse.toFile(), "rw")) {
            out.setLength(dataBegin + rows * 4096);
            out.seek(dataBegin + rows * 4096 - 4);
            out.writeInt(0x01020304);
        }
        try (SafetensorsFile file = SafetensorsFile.open(sparse)) {
            assertThatThrownBy(() -> file.read("t"))
                    .isInstanceOf(SafetensorsException.class)
                    .hasMessageEndingWith("tensor 't': has 12884901888 bytes, more than one buffer holds; HINT: read it"
                            + " in pieces with read(name, offsetBytes, buffer), or into an array with readInto");
            ByteBuffer last = ByteBuffer.allocate(8);
            file.read("t", rows * 4096 - 8, last);
            assertThat(last.flip().getLong()).isEqualTo(0x01020304);
            NdArray corner = NdArray.allocate(backend, DType.FLOAT32, Shape.of(2, 1));
            file.readRegion("t", new Region(Shape.of(rows, 1024), Shape.of(2, 1), new long[] {rows - 2, 1023}), corner);
            assertThat(MemoryBackend.bytes(corner)).containsExactly(0, 0, 0, 0, 1, 2, 3, 4);
        }
    }

    @Test
    void shouldBeReadFromSeveralThreadsAtOnce() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            var results = IntStream.range(0, 16)
                    .mapToObj(i -> threads.submit(() -> {
                        NdArray array = NdArray.allocate(new MemoryBackend(), DType.FLOAT32, WIDE);
                        file.readInto("wide", array);
                        return MemoryBackend.bytes(array);
                    }))
                    .toList();
            for (Future<byte[]> result : results) {
                assertThat(result.get()).isEqualTo(wide);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void shouldReadOnThroughShortReadsAndNameTheFileWhenReadingFails() throws IOException {
        CountingChannel channel = new CountingChannel(path, 100_000);
        try (SafetensorsFile file = SafetensorsFile.open(path, channel)) {
            assertThat(file.read("wide")).isEqualTo(ByteBuffer.wrap(wide));
            channel.failing = true;
            assertThatThrownBy(() -> file.read("mask"))
                    .isInstanceOf(SafetensorsException.class)
                    .hasMessageStartingWith(path + ": tensor 'mask': cannot be read at byte ")
                    .hasMessageEndingWith(": the disk is on fire")
                    .hasCauseInstanceOf(IOException.class);
        }
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void shouldTellThatTheFileWasCutWhileOpen() throws IOException {
        try (SafetensorsFile file = SafetensorsFile.open(path);
                RandomAccessFile cut = new RandomAccessFile(path.toFile(), "rw")) {
            cut.setLength(3_000_000);
            assertThatThrownBy(() -> file.read("wide"))
                    .isInstanceOf(SafetensorsException.class)
                    .hasMessageContaining("tensor 'wide': ended at byte 3000000 although it had ")
                    .hasMessageEndingWith("HINT: it is being overwritten: save to another name and rename");
        }
    }

    @Test
    void shouldSayThatAnInterruptClosedTheFile() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> file.read("mask"))
                    .isInstanceOf(SafetensorsException.class)
                    .hasMessageEndingWith(": ClosedByInterruptException");
            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(() -> file.read("mask")).hasMessageEndingWith(": ClosedChannelException");
        }
    }

    @Test
    void shouldRefuseUseAfterCloseAndASecondClose() {
        SafetensorsFile file = SafetensorsFile.open(path);
        file.close();
        assertThat(file.names()).contains("mask");
        assertThatThrownBy(() -> file.read("mask"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("safetensors file " + path + " is used after it was closed");
        NdArray mask = NdArray.allocate(backend, DType.BOOL, Shape.of(4));
        assertThatThrownBy(() -> file.readInto("mask", mask)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(file::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("safetensors file " + path + " is closed twice");
    }

    @Test
    void shouldReadAsTheDocumentedExampleDoes() {
        try (SafetensorsFile file = SafetensorsFile.open(path)) {
            assertThat(file.read("wide").asFloatBuffer().get(1))
                    .isEqualTo(
                            ByteBuffer.wrap(wide).order(ByteOrder.LITTLE_ENDIAN).getFloat(4));
        }
    }
}
