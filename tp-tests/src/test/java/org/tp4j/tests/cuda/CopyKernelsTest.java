package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;

/** Strided copies on CUDA against the CPU's; what is not addressed must stay. */
class CopyKernelsTest {
    private Scope scope;
    private ElementwiseKernels cpu;
    private ElementwiseKernels cuda;

    @BeforeEach
    void openScope() {
        scope = Scope.open();
        cpu = OnCuda.cpu().elementwise();
        cuda = OnCuda.device().elementwise();
    }

    @AfterEach
    void closeScope() {
        scope.close();
    }

    private void check(
            Twin src, long srcOffset, long[] srcStrides, Twin dst, long dstOffset, long[] dstStrides, long[] sizes) {
        cpu.copy(src.cpu(), srcOffset, srcStrides, dst.cpu(), dstOffset, dstStrides, sizes);
        cuda.copy(src.cuda(), srcOffset, srcStrides, dst.cuda(), dstOffset, dstStrides, sizes);
        dst.assertSame(src.cpu() + " at " + srcOffset + " by " + Arrays.toString(srcStrides) + " to " + dst.cpu()
                + " at " + dstOffset + " by " + Arrays.toString(dstStrides) + ", sizes " + Arrays.toString(sizes));
    }

    private static long[] permuted(long[] values, int[] order) {
        long[] result = new long[order.length];
        for (int d = 0; d < order.length; d++) {
            result[d] = values[order[d]];
        }
        return result;
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldPermuteDimensions(DType dtype) {
        Random random = new Random(1);
        long[][] shapes = {
            {1}, {257}, {7, 9}, {33, 65}, {64, 128}, {130, 8}, {100, 3}, {3, 40, 50}, {2, 16, 3, 24}, {2, 3, 1, 5, 17}
        };
        int[][][] orders = {
            {{0}},
            {{1, 0}},
            {{2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}, {1, 2, 0}},
            {{0, 2, 1, 3}, {3, 2, 1, 0}, {0, 1, 3, 2}, {0, 3, 1, 2}},
            {{4, 2, 0, 1, 3}, {0, 1, 4, 3, 2}}
        };
        for (long[] sizes : shapes) {
            for (int[] order : orders[sizes.length - 1]) {
                for (int offset : new int[] {0, 1}) {
                    Shape from = Shape.of(sizes);
                    Shape to = Shape.of(permuted(sizes, order));
                    Twin src = Twin.random(dtype, random, offset, from);
                    Twin dst = Twin.result(dtype, 2 * offset, to);
                    check(src, 0, permuted(from.strides(), order), dst, 0, to.strides(), to.toArray());
                }
            }
        }
    }

    /** So many tiles that every block turns several: the next may not overwrite what is still being read. */
    @Test
    void shouldTransposeMoreMatricesThanThereAreBlocks() {
        Shape from = Shape.of(6000, 9, 8);
        Shape to = Shape.of(6000, 8, 9);
        Twin src = Twin.random(DType.INT32, new Random(8), 0, from);
        check(src, 0, new long[] {72, 1, 8}, Twin.result(DType.INT32, 0, to), 0, to.strides(), to.toArray());
    }

    /** Boxes within arrays, as slices, concatenations and shards of a dimension are. */
    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldCopyBoxes(DType dtype) {
        Random random = new Random(2);
        for (int round = 0; round < 60; round++) {
            int dims = 1 + random.nextInt(4);
            int multiple = random.nextBoolean() ? 8 : 1; // of sizes and places, so that all widths of units come up
            long[] from = new long[dims];
            long[] to = new long[dims];
            long[] sizes = new long[dims];
            long srcOffset = 0;
            long dstOffset = 0;
            for (int d = 0; d < dims; d++) {
                int unit = d == dims - 1 ? multiple : 1;
                sizes[d] = (long) unit * (1 + random.nextInt(9));
                from[d] = sizes[d] + (long) unit * random.nextInt(3);
                to[d] = sizes[d] + (long) unit * random.nextInt(3);
            }
            Shape srcShape = Shape.of(from);
            Shape dstShape = Shape.of(to);
            for (int d = 0; d < dims; d++) {
                int unit = d == dims - 1 ? multiple : 1;
                srcOffset += srcShape.strides()[d] * unit * random.nextInt((int) (from[d] - sizes[d]) / unit + 1);
                dstOffset += dstShape.strides()[d] * unit * random.nextInt((int) (to[d] - sizes[d]) / unit + 1);
            }
            Twin src = Twin.random(dtype, random, round % 3, srcShape);
            Twin dst = Twin.result(dtype, round % 2, dstShape);
            check(src, srcOffset, srcShape.strides(), dst, dstOffset, dstShape.strides(), sizes);
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldRepeatElements(DType dtype) {
        Random random = new Random(3);
        for (long n : new long[] {1, 7, 16, 48, 257}) {
            for (int offset : new int[] {0, 1}) {
                Twin column = Twin.random(dtype, random, offset, Shape.of(5));
                Twin row = Twin.random(dtype, random, offset, Shape.of(n));
                long[] sizes = {5, n};
                long[] strides = {n, 1};
                check(column, 0, new long[] {1, 0}, Twin.result(dtype, 0, Shape.of(sizes)), 0, strides, sizes);
                check(column, 0, new long[] {1, 0}, Twin.result(dtype, offset, Shape.of(sizes)), 0, strides, sizes);
                check(row, 0, new long[] {0, 1}, Twin.result(dtype, 0, Shape.of(sizes)), 0, strides, sizes);
                check(row, 0, new long[] {0, 0}, Twin.result(dtype, 0, Shape.of(sizes)), 0, strides, sizes);
                // every third row, and rows that are further apart than they are long
                check(
                        column,
                        0,
                        new long[] {1, 0},
                        Twin.result(dtype, offset, Shape.of(5, n + 16)),
                        16,
                        new long[] {n + 16, 1},
                        sizes);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DType.class)
    void shouldScatterAndGatherByStrides(DType dtype) {
        Random random = new Random(4);
        Twin src = Twin.random(dtype, random, 1, Shape.of(400));
        Twin dst = Twin.result(dtype, 1, Shape.of(400));
        check(src, 3, new long[] {7}, dst, 5, new long[] {3}, new long[] {50});
        check(src, 0, new long[] {1, 20}, dst, 0, new long[] {20, 2}, new long[] {10, 10});
        check(src, 0, new long[] {40, 2}, dst, 1, new long[] {2, 20}, new long[] {10, 15});
        check(src, 0, new long[] {}, dst, 7, new long[] {}, new long[] {}); // one element
        check(src, 0, new long[] {5, 1}, dst, 0, new long[] {5, 1}, new long[] {0, 5});
    }

    /** More dimensions than a kernel takes, none of which merge. */
    @Test
    void shouldCopyManyDimensions() {
        long[] sizes = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3};
        int n = sizes.length;
        Shape from = Shape.of(sizes);
        int[] order = new int[n];
        for (int d = 0; d < n; d++) {
            order[d] = n - 1 - d;
        }
        Shape to = Shape.of(permuted(sizes, order));
        for (DType dtype : new DType[] {DType.FLOAT32, DType.BFLOAT16}) {
            Twin src = Twin.random(dtype, new Random(5), 0, from);
            check(src, 0, permuted(from.strides(), order), Twin.result(dtype, 0, to), 0, to.strides(), to.toArray());
        }
    }

    @Test
    void shouldTakeTheCheapestForm() {
        StreamTrace trace = new StreamTrace();
        Twin src = Twin.random(DType.BFLOAT16, new Random(6), 0, Shape.of(64, 64));
        Twin dst = Twin.result(DType.BFLOAT16, 0, Shape.of(64, 64));
        long[] whole = {64, 1};
        long[] sizes = {16, 32};
        OnCuda.device().setTrace(trace);
        try {
            cuda.cast(src.cuda(), dst.cuda());
            cuda.copy(src.cuda(), 64, whole, dst.cuda(), 128, whole, new long[] {3, 64});
            cuda.copy(src.cuda(), 64, whole, dst.cuda(), 8, whole, sizes); // 16 bytes
            cuda.copy(src.cuda(), 64, whole, dst.cuda(), 1, whole, sizes); // 2 bytes
            cuda.copy(src.cuda(), 0, new long[] {1, 64}, dst.cuda(), 0, whole, sizes);
            cuda.copy(src.cuda(), 0, new long[] {1, 0}, dst.cuda(), 0, whole, sizes);
        } finally {
            OnCuda.device().setTrace(null);
        }
        assertThat(trace.entries())
                .extracting(StreamTrace.Entry::what)
                .containsExactly(
                        "device to device", "device to device", "copyWide", "copyStrided", "transpose", "repeat");
    }

    @Test
    void shouldAssignWindows() {
        Twin src = Twin.random(DType.INT64, new Random(7), 0, Shape.of(3, 5));
        Twin dst = Twin.result(DType.INT64, 3, Shape.of(3, 5));
        dst.cpu().assign(src.cpu());
        dst.cuda().assign(src.cuda());
        dst.assertSame("assignment");
    }
}
