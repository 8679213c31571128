package org.tp4j.cuda.internal.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.tp4j.cuda.internal.arguments.ArgumentStruct;
import org.tp4j.tensor.Shape;

/** Boxes that are merged, cut and counted in units still walk the same elements. */
class StridedBoxTest {
    private static final DividerStruct STRUCT = new DividerStruct();

    private static final class DividerStruct extends ArgumentStruct {
        final DividerField divider = divider("divider");

        DividerStruct() {
            super("DividerStruct");
        }
    }

    /** Offsets in each array of every tuple, in row-major order. */
    private static List<List<Long>> walk(long[] sizes, long[]... strides) {
        List<List<Long>> places = new ArrayList<>();
        long n = Shape.of(sizes).elements();
        for (long i = 0; i < n; i++) {
            List<Long> at = new ArrayList<>();
            for (long[] stride : strides) {
                long rest = i;
                long sum = 0;
                for (int d = sizes.length - 1; d >= 0; d--) {
                    sum += rest % sizes[d] * stride[d];
                    rest /= sizes[d];
                }
                at.add(sum);
            }
            places.add(at);
        }
        return places;
    }

    private static void addPlaces(StridedBox box, int arrays, List<List<Long>> to) {
        assertThat(box.first()).isEqualTo(to.size());
        assertThat(box.dims()).isBetween(1, StridedBox.MAX_DIMS);
        for (long i = 0; i < box.elements(); i++) {
            List<Long> at = new ArrayList<>();
            for (int k = 0; k < arrays; k++) {
                long rest = i;
                long sum = box.offset(k);
                for (int d = 0; d < box.dims(); d++) {
                    sum += rest % box.size(d) * box.stride(k, d);
                    rest /= box.size(d);
                }
                at.add(sum);
            }
            to.add(at);
        }
    }

    @Test
    void shouldWalkTheSameElementsInParts() {
        Random random = new Random(1);
        for (int round = 0; round < 300; round++) {
            int dims = random.nextInt(11);
            long[] sizes = new long[dims];
            long[] whole = new long[dims];
            long[] strange = new long[dims];
            for (int d = 0; d < dims; d++) {
                sizes[d] = 1 + random.nextInt(dims > 5 ? 2 : 5);
                strange[d] = random.nextInt(20) - 5;
            }
            System.arraycopy(Shape.of(sizes).strides(), 0, whole, 0, dims);
            StridedBox box = StridedBox.of(sizes, whole, random.nextBoolean() ? strange : whole);
            List<List<Long>> found = new ArrayList<>();
            List<List<Long>> whileWhole = new ArrayList<>();
            long most = 1 + random.nextInt(40);
            box.forEachPart(most, part -> {
                assertThat(part.elements()).isLessThanOrEqualTo(most);
                addPlaces(part, 2, found);
            });
            box.forEachPart(part -> addPlaces(part, 2, whileWhole));
            long[] second = new long[dims];
            for (int d = 0; d < dims; d++) {
                second[d] = strange[d];
            }
            List<List<Long>> asStrange = walk(sizes, whole, second);
            List<List<Long>> asWhole = walk(sizes, whole, whole);
            assertThat(found).isIn(asStrange, asWhole).isEqualTo(whileWhole);
        }
    }

    @Test
    void shouldMergeWhatLiesBehindEachOther() {
        long[] sizes = {4, 1, 5, 6};
        StridedBox same = StridedBox.of(sizes, new long[] {30, 30, 6, 1}, new long[] {30, 99, 6, 1});
        assertThat(same.dims()).isEqualTo(1);
        assertThat(same.size(0)).isEqualTo(120);
        StridedBox row = StridedBox.of(sizes, new long[] {30, 30, 6, 1}, new long[] {0, 0, 0, 1});
        assertThat(row.dims()).isEqualTo(2);
        assertThat(row.size(0)).isEqualTo(6);
        assertThat(row.size(1)).isEqualTo(20);
    }

    @Test
    void shouldBroadcastAsShapesDo() {
        assertThat(StridedBox.broadcastStrides(Shape.of(3, 1, 5), Shape.of(2, 3, 4, 5)))
                .containsExactly(0, 5, 0, 1);
        assertThat(StridedBox.broadcastStrides(Shape.scalar(), Shape.of(2, 3))).containsExactly(0, 0);
    }

    /** The kernels' formula, with 32-bit arithmetic, for numbers around every multiple that could go wrong. */
    @Test
    void shouldDivideByMultiplying() {
        Random random = new Random(2);
        List<Integer> divisors = new ArrayList<>(List.of(1, 2, 3, 5, 7, 641, 65535, 65536, 65537, Integer.MAX_VALUE));
        for (int i = 0; i < 300; i++) {
            divisors.add(1 + (random.nextInt() >>> 1 + random.nextInt(30)));
        }
        for (int divisor : divisors) {
            ByteBuffer fields =
                    Arguments.of(STRUCT).set(STRUCT.divider, divisor).written(STRUCT.bytes());
            assertThat(fields.getInt(0)).isEqualTo(divisor);
            long multiplier = Integer.toUnsignedLong(fields.getInt(4));
            int shift = fields.getInt(8);
            for (int i = 0; i < 200; i++) {
                int most = Integer.MAX_VALUE / divisor;
                int multiple = i == 0 ? most : (int) (random.nextDouble() * most);
                for (long n = (long) multiple * divisor - 1; n <= (long) multiple * divisor + 1; n++) {
                    if (n >= 0 && n <= Integer.MAX_VALUE) {
                        long sum = (n * multiplier >>> Integer.SIZE) + n;
                        assertThat(sum).isLessThan(1L << Integer.SIZE);
                        assertThat(shift).isLessThan(Integer.SIZE);
                        assertThat(sum >>> shift).as("%d / %d", n, divisor).isEqualTo(n / divisor);
                    }
                }
            }
        }
    }
}
