package org.tp4j.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/** Boxes are read as an element-by-element walk would, and little else is. */
class BoxReaderTest {
    private static final int BOXES = 400;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadEveryBoxAsAWalkOverItsElementsDoes(long seed) throws IOException {
        Random random = new Random(seed);
        byte[] content = new byte[1 << 20];
        random.nextBytes(content);
        Path path = Files.write(folder.resolve("bytes"), content);
        try (CountingChannel channel = new CountingChannel(path, 1000)) {
            FileBytes file = new FileBytes(path, channel);
            for (int i = 0; i < BOXES; i++) {
                int elementBytes = 1 << random.nextInt(4);
                Region region = randomRegion(random, content.length / 16);
                long begin = random.nextInt(content.length / 2);
                byte[] expected = walk(content, begin, region, elementBytes);
                ByteBuffer staging = ByteBuffer.allocate(8 * (1 + random.nextInt(random.nextBoolean() ? 4 : 5000)));
                ByteArrayOutputStream actual = new ByteArrayOutputStream();
                new BoxReader(file, "t", begin, region, elementBytes).forEachPiece(staging, piece -> {
                    assertThat(piece.remaining() % elementBytes).isZero();
                    byte[] bytes = new byte[piece.remaining()];
                    piece.get(bytes);
                    actual.writeBytes(bytes);
                });
                assertThat(actual.toByteArray())
                        .as("seed %d, box %d: %s of %d bytes", seed, i, region, elementBytes)
                        .isEqualTo(expected);
            }
        }
    }

    @Test
    void shouldReadRowsInOnePieceAndNothingElse() throws IOException {
        Cost cost = read(Shape.of(64, 1024), Shape.of(16, 1024), 48, 0);
        assertThat(cost.bytes).isEqualTo(16 * 1024 * 4);
        assertThat(cost.reads).isEqualTo(1);
    }

    @Test
    void shouldReadWideColumnsARowAtATimeAndNothingElse() throws IOException {
        Cost cost = read(Shape.of(16, 4096), Shape.of(16, 1024), 0, 1024);
        assertThat(cost.bytes).isEqualTo(16 * 1024 * 4);
        assertThat(cost.reads).isEqualTo(16);
    }

    @Test
    void shouldReadOverGapsBelowAPage() throws IOException {
        // Runs of 256 bytes, 768 bytes apart: 64 KiB at once, from the first byte of the box to its last.
        Cost cost = read(Shape.of(1024, 256), Shape.of(1024, 64), 0, 64);
        assertThat(cost.bytes).isEqualTo(1023 * 1024 + 256);
        assertThat(cost.reads).isLessThanOrEqualTo(17);
    }

    @Test
    void shouldNotReadOverGapsOfAPage() throws IOException {
        Cost cost = read(Shape.of(100, 2048), Shape.of(100, 1), 0, 2047);
        assertThat(cost.bytes).isEqualTo(400);
        assertThat(cost.reads).isEqualTo(100);
    }

    @Test
    void shouldReadNothingForAnEmptyBoxOfAHugeEmptyTensor() throws IOException {
        Shape huge = Shape.of(0, Long.MAX_VALUE, 2);
        Path path = Files.write(folder.resolve("nothing"), new byte[0]);
        try (CountingChannel channel = new CountingChannel(path, 1)) {
            new BoxReader(new FileBytes(path, channel), "t", 0, Region.whole(huge), 4)
                    .forEachPiece(ByteBuffer.allocate(8), piece -> {
                        throw new AssertionError("a piece of nothing");
                    });
            assertThat(channel.reads).isZero();
        }
    }

    private record Cost(long bytes, long reads) {}

    private Cost read(Shape global, Shape local, long... offsets) throws IOException {
        Path path = Files.write(folder.resolve("cost"), new byte[(int) global.elements() * 4]);
        try (CountingChannel channel = new CountingChannel(path, Integer.MAX_VALUE)) {
            new BoxReader(new FileBytes(path, channel), "t", 0, new Region(global, local, offsets), 4)
                    .forEachPiece(ByteBuffer.allocate(1 << 20), piece -> {});
            return new Cost(channel.bytesRead, channel.reads);
        }
    }

    private static Region randomRegion(Random random, long maxElements) {
        int dims = random.nextInt(6);
        long[] global = new long[dims];
        long[] local = new long[dims];
        long[] offsets = new long[dims];
        long left = maxElements;
        for (int d = 0; d < dims; d++) {
            int bound = (int) Math.min(left, random.nextInt(6) == 0 ? 3000 : 7);
            global[d] = random.nextInt(20) == 0 ? 0 : 1 + random.nextInt(bound);
            left = Math.max(1, left / Math.max(1, global[d]));
            if (random.nextBoolean()) {
                local[d] = global[d];
            } else {
                local[d] = random.nextLong(global[d] + 1);
                offsets[d] = random.nextLong(global[d] - local[d] + 1);
            }
        }
        return new Region(Shape.of(global), Shape.of(local), offsets);
    }

    private static byte[] walk(byte[] content, long begin, Region region, int elementBytes) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        long[] strides = region.global().strides();
        int dims = strides.length;
        for (long i = 0; i < region.local().elements(); i++) {
            long rest = i;
            long at = 0;
            for (int d = dims - 1; d >= 0; d--) {
                at += (region.offsets()[d] + rest % region.local().size(d)) * strides[d];
                rest /= region.local().size(d);
            }
            out.write(content, (int) (begin + at * elementBytes), elementBytes);
        }
        return out.toByteArray();
    }
}
