package org.tp4j.cpu.internal.kernels;

import static org.assertj.core.api.Assertions.assertThat;
import static org.tp4j.cpu.internal.kernels.TestArrays.assertRelativelyClose;
import static org.tp4j.cpu.internal.kernels.TestArrays.copyOf;
import static org.tp4j.cpu.internal.kernels.TestArrays.filled;
import static org.tp4j.cpu.internal.kernels.TestArrays.of;
import static org.tp4j.cpu.internal.kernels.TestArrays.random;
import static org.tp4j.cpu.internal.kernels.TestArrays.window;

import java.util.Random;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.cpu.internal.memory.HostStorage;
import org.tp4j.cpu.internal.reference.ReferenceElementwise;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ElementwiseKernels;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.TpException;

/** Kernels that move, choose, fill and convert elements. */
class ShapesTest {
    private final ElementwiseKernels fast = CpuBackend.get().elementwise();
    private final ReferenceElementwise reference = new ReferenceElementwise();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void shouldCopyStridedBoxesLikeTheReference(long seed) {
        Random random = new Random(seed);
        for (int round = 0; round < 60; round++) {
            int dims = random.nextInt(5);
            long[] sizes = new long[dims];
            for (int d = 0; d < dims; d++) {
                sizes[d] = round % 10 == 0 ? random.nextInt(3) : 1 + random.nextInt(dims == 2 ? 70 : 6);
            }
            // a permuted, padded layout on either side; some source dimensions stretched
            long[] srcStrides = layout(random, sizes, true);
            long[] dstStrides = layout(random, sizes, false);
            DType dtype = DType.values()[round % DType.values().length];
            long srcOffset = random.nextInt(4);
            long dstOffset = random.nextInt(4);
            NdArray src = random(dtype, random, 2, Shape.of(srcOffset + extent(sizes, srcStrides)));
            NdArray dst = random(dtype, random, 1, Shape.of(dstOffset + extent(sizes, dstStrides)));
            NdArray expected = copyOf(dst);
            fast.copy(src, srcOffset, srcStrides, dst, dstOffset, dstStrides, sizes);
            reference.copy(src, srcOffset, srcStrides, expected, dstOffset, dstStrides, sizes);
            assertRelativelyClose(dst, expected, 0);
        }
    }

    private static long[] layout(Random random, long[] sizes, boolean mayStretch) {
        int dims = sizes.length;
        int[] order = new int[dims];
        for (int d = 0; d < dims; d++) {
            int other = random.nextInt(d + 1);
            order[d] = order[other];
            order[other] = d;
        }
        long[] strides = new long[dims];
        long stride = 1;
        for (int d : order) {
            boolean stretched = mayStretch && random.nextInt(8) == 0;
            strides[d] = stretched ? 0 : stride;
            stride *= stretched ? 1 : Math.max(1, sizes[d]) + (random.nextInt(3) == 0 ? random.nextInt(3) : 0);
        }
        return strides;
    }

    private static long extent(long[] sizes, long[] strides) {
        long last = 0;
        for (int d = 0; d < sizes.length; d++) {
            last += Math.max(0, sizes[d] - 1) * strides[d];
        }
        return last + 1;
    }

    @ParameterizedTest
    @EnumSource
    void shouldChooseLikeTheReference(DType dtype) {
        Random random = new Random(5);
        long[][][] shapes = {
            {{4, 9}, {4, 9}, {4, 9}},
            {{9}, {4, 9}, {}},
            {{4, 1}, {}, {4, 9}},
            {{1, 1}, {4, 1}, {9}},
            {{4, 9}, {}, {1}},
            {{0, 9}, {9}, {1}}
        };
        for (long[][] triple : shapes) {
            Shape c = Shape.of(triple[0]);
            Shape a = Shape.of(triple[1]);
            Shape b = Shape.of(triple[2]);
            Shape shape = c.broadcast(a).broadcast(b);
            NdArray condition = random(DType.BOOL, random, 1, c);
            NdArray first = random(dtype, random, 2, a);
            NdArray second = random(dtype, random, 0, b);
            NdArray out = window(dtype, 3, shape);
            NdArray expected = window(dtype, 3, shape);
            fast.where(condition, first, second, out);
            reference.where(condition, first, second, expected);
            assertRelativelyClose(out, expected, 0);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCastLikeTheReference(DType from) {
        Random random = new Random(6);
        for (DType to : DType.values()) {
            for (int n : new int[] {0, 1, 70, 2100}) {
                NdArray x = random(from, random, 3, Shape.of(n));
                NdArray out = window(to, 1, Shape.of(n));
                NdArray expected = window(to, 1, Shape.of(n));
                fast.cast(x, out);
                reference.cast(x, expected);
                assertRelativelyClose(out, expected, 0);
            }
        }
    }

    @Test
    void shouldTruncateAndSaturateWhenCastingToIntegers() {
        NdArray x = of(DType.FLOAT32, 0, Shape.of(6), 2.9, -2.9, 1e20, -1e20, Double.NaN, 0.5);
        NdArray ints = window(DType.INT32, 0, Shape.of(6));
        fast.cast(x, ints);
        assertThat(((HostStorage) ints.storage()).ints()).startsWith(2, -2, Integer.MAX_VALUE, Integer.MIN_VALUE, 0, 0);
        NdArray bools = window(DType.BOOL, 0, Shape.of(6));
        fast.cast(x, bools);
        assertThat(((HostStorage) bools.storage()).booleans()).startsWith(1, 1, 1, 1, 1, 1);
    }

    @Test
    void shouldKeepLargeIntegersExact() {
        long large = (1L << 62) + 1;
        NdArray x = window(DType.INT64, 0, Shape.of(1));
        ElementAccess.of(x).setLong(0, large);
        NdArray two = window(DType.INT64, 0, Shape.of(1));
        ElementAccess.of(two).setLong(0, 2);
        fast.binary(BinaryFunction.ADD, x, two, x);
        assertThat(ElementAccess.of(x).getLong(0)).isEqualTo(large + 2);
    }

    @Test
    void shouldRefuseToDivideIntegersByZero() {
        NdArray x = filled(DType.INT32, Shape.of(2), 3);
        NdArray zero = filled(DType.INT32, Shape.of(2), 0);
        Assertions.assertThatThrownBy(() -> fast.binary(BinaryFunction.DIV, x, zero, x))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("division of 3 by zero");
    }

    @ParameterizedTest
    @EnumSource
    void shouldFillTheWindowAndNothingElse(DType dtype) {
        NdArray whole = filled(dtype, Shape.of(10), 0);
        fast.fill(whole.window(3, Shape.of(2, 2)), 1);
        NdArray expected = of(dtype, 0, Shape.of(10), 0, 0, 0, 1, 1, 1, 1, 0, 0, 0);
        assertRelativelyClose(whole, expected, 0);
        fast.fill(whole.window(5, Shape.of(0)), 1);
        assertRelativelyClose(whole, expected, 0);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BOOL")
    void shouldAddScaledLikeTheReference(DType dtype) {
        Random random = new Random(7);
        for (int n : new int[] {0, 1, 65, 2100}) {
            NdArray x = random(dtype, random, 1, Shape.of(n));
            NdArray y = random(dtype, random, 2, Shape.of(n));
            NdArray expected = copyOf(y);
            fast.addScaled(3, x, y);
            reference.addScaled(3, x, expected);
            TestArrays.assertClose(y, expected, dtype == DType.FLOAT32 ? 4 : dtype.isHalf() ? 1 : 0);
        }
    }
}
