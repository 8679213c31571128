package org.tp4j.cuda.internal.kernels;

import static org.tp4j.cuda.internal.arguments.CopyArguments.COPY;
import static org.tp4j.cuda.internal.arguments.CopyArguments.FILL;
import static org.tp4j.cuda.internal.arguments.CopyArguments.TRANSPOSE;
import static org.tp4j.cuda.internal.arguments.CopyArguments.WHERE;

import jcuda.driver.JCudaDriver;
import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.cuda.internal.driver.Cuda;
import org.tp4j.cuda.internal.driver.CudaDevice;
import org.tp4j.cuda.internal.driver.DeviceMemory;
import org.tp4j.cuda.internal.driver.DeviceStream;
import org.tp4j.cuda.internal.launch.Arguments;
import org.tp4j.cuda.internal.launch.Grid;
import org.tp4j.cuda.internal.launch.Kernel;
import org.tp4j.cuda.internal.launch.KernelFamily;
import org.tp4j.cuda.internal.launch.Kernels;
import org.tp4j.cuda.internal.launch.StridedBox;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.cuda.stream.StreamTrace;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;

/**
 * Operations that move elements without interpreting them: copies, fills, selection. Kernels are compiled per element size.
 *
 * <p>A strided copy is reduced to the cheapest of these forms, with dst's smallest stride innermost and dimensions merged:
 * one contiguous range is a driver copy; contiguous runs are moved in units of up to 16 bytes; two dimensions that
 * swap places go through tiles in shared memory; an element repeated along a run is stored 16 bytes at a time; all else goes
 * element by element.
 */
final class CudaCopies {
    private static final String SOURCE = "copy";
    private static final int WIDE = 16;
    private static final int SMALLEST_TRANSPOSED = 8;
    private static final int DST = 0;
    private static final int SRC = 1;

    private final CudaDevice device;
    private final DeviceStream stream;
    private final KernelFamily strided;
    private final KernelFamily wide;
    private final KernelFamily repeat;
    private final KernelFamily transpose;
    private final KernelFamily fill;
    private final KernelFamily where;

    CudaCopies(Kernels kernels, DeviceStream stream) {
        this.device = kernels.device();
        this.stream = stream;
        this.strided = new KernelFamily(kernels, SOURCE, "copyStrided");
        this.wide = new KernelFamily(kernels, SOURCE, "copyWide");
        this.repeat = new KernelFamily(kernels, SOURCE, "repeat");
        this.transpose = new KernelFamily(kernels, SOURCE, "transpose");
        this.fill = new KernelFamily(kernels, SOURCE, "fill");
        this.where = new KernelFamily(kernels, SOURCE, "where");
    }

    /** The type that stands for elements of a size in bytes when kernels are compiled. */
    private static DType ofSize(int bytes) {
        return switch (bytes) {
            case 1 -> DType.BOOL;
            case 2 -> DType.BFLOAT16;
            case 4 -> DType.INT32;
            default -> DType.INT64;
        };
    }

    /** Copies all elements between arrays of the same type and size. */
    void copyWhole(NdArray src, NdArray dst) {
        copyStretch(src, 0, dst, 0, src.elements());
    }

    private void copyStretch(NdArray src, long srcOffset, NdArray dst, long dstOffset, long elements) {
        int bytes = src.dtype().bytes();
        DeviceMemory from = CudaStorage.pointerTo(src, srcOffset);
        DeviceMemory to = CudaStorage.pointerTo(dst, dstOffset);
        if (elements > 0 && from.address() != to.address()) {
            device.makeCurrent();
            Cuda.check(JCudaDriver.cuMemcpyDtoDAsync(to, from, elements * bytes, stream.stream()), "cuMemcpyDtoDAsync");
            stream.note(StreamTrace.Kind.COPY, "device to device");
        }
    }

    /** See {@link org.tp4j.tensor.ElementwiseKernels#copy}. */
    void copy(
            NdArray src,
            long srcOffset,
            long[] srcStrides,
            NdArray dst,
            long dstOffset,
            long[] dstStrides,
            long[] sizes) {
        for (long size : sizes) {
            if (size == 0) {
                return;
            }
        }
        int[] order = byStride(dstStrides);
        StridedBox box =
                StridedBox.of(permuted(sizes, order), permuted(dstStrides, order), permuted(srcStrides, order));
        if (box.dims() == 1 && (box.size(0) == 1 || box.stride(DST, 0) == 1 && box.stride(SRC, 0) == 1)) {
            copyStretch(src, srcOffset, dst, dstOffset, box.size(0));
            return;
        }
        int bytes = src.dtype().bytes();
        long from = CudaStorage.addressOf(src) + srcOffset * bytes;
        long to = CudaStorage.addressOf(dst) + dstOffset * bytes;
        int across = dimensionAcross(box);
        if (across > 0) {
            transpose(box, across, from, to, bytes);
        } else if (box.stride(DST, 0) != 1) {
            launch(strided, ofSize(bytes), box, from, bytes, to, bytes);
        } else if (box.stride(SRC, 0) == 1) {
            copyRuns(box, from, to, bytes);
        } else if (box.stride(SRC, 0) == 0 && bytes < WIDE && unit(box, 0, to, bytes, false) == WIDE / bytes) {
            launch(repeat, ofSize(bytes), box.inUnitsOf(WIDE / bytes, true, false), from, bytes, to, WIDE);
        } else {
            launch(strided, ofSize(bytes), box, from, bytes, to, bytes);
        }
    }

    /** Dimensions with the largest stride first; dimensions of equal stride keep their order. */
    private static int[] byStride(long[] strides) {
        int[] order = new int[strides.length];
        for (int d = 0; d < order.length; d++) {
            int at = d;
            while (at > 0 && Math.abs(strides[order[at - 1]]) < Math.abs(strides[d])) {
                order[at] = order[at - 1];
                at--;
            }
            order[at] = d;
        }
        return order;
    }

    private static long[] permuted(long[] values, int[] order) {
        long[] result = new long[order.length];
        for (int d = 0; d < order.length; d++) {
            result[d] = values[order[d]];
        }
        return result;
    }

    /** The dimension along which src is contiguous while dst is along the innermost; 0 if this is not a transposition. */
    private static int dimensionAcross(StridedBox box) {
        if (box.stride(DST, 0) != 1 || box.stride(SRC, 0) == 0 || !isTransposable(box.size(0))) {
            return 0;
        }
        for (int d = 1; d < box.dims() && box.stride(SRC, 0) != 1; d++) {
            if (box.stride(SRC, d) == 1 && isTransposable(box.size(d))) {
                return d;
            }
        }
        return 0;
    }

    private static boolean isTransposable(long size) {
        return size >= SMALLEST_TRANSPOSED && size <= Integer.MAX_VALUE - SMALLEST_TRANSPOSED;
    }

    private void copyRuns(StridedBox box, long from, long to, int bytes) {
        int unit = unit(box, from, to, bytes, true);
        StridedBox counted = unit == 1 ? box : box.inUnitsOf(unit, true, true);
        int wideness = unit * bytes;
        if (wideness == WIDE) {
            launch(wide, ofSize(bytes), counted, from, WIDE, to, WIDE);
        } else {
            launch(strided, ofSize(wideness), counted, from, wideness, to, wideness);
        }
    }

    /** The largest unit, in elements and up to 16 bytes, that divides the runs of dst, and those of src if asked. */
    private static int unit(StridedBox box, long from, long to, int bytes, boolean ofSource) {
        int unit = WIDE / bytes;
        while (unit > 1 && !isCounted(box, from, to, bytes, ofSource, unit)) {
            unit /= 2;
        }
        return unit;
    }

    private static boolean isCounted(StridedBox box, long from, long to, int bytes, boolean ofSource, int unit) {
        long all = box.size(0) | to / bytes | (ofSource ? from / bytes : 0);
        for (int d = 1; d < box.dims(); d++) {
            all |= box.stride(DST, d) | (ofSource ? box.stride(SRC, d) : 0);
        }
        return all % unit == 0;
    }

    private void launch(
            KernelFamily family, DType type, StridedBox box, long from, int fromBytes, long to, int toBytes) {
        box.forEachPart(part -> {
            Arguments arguments = Arguments.of(COPY)
                    .set(COPY.box, part)
                    .set(COPY.strides, part)
                    .set(COPY.dst, to + part.offset(DST) * toBytes)
                    .set(COPY.src, from + part.offset(SRC) * fromBytes)
                    .set(COPY.n, part.elements());
            family.of(type).launch(Grid.blocks(device, part.elements()), Grid.THREADS, arguments);
        });
    }

    private void transpose(StridedBox box, int across, long from, long to, int bytes) {
        int tile = bytes < 4 ? KernelConstants.TILE_OF_SMALL : KernelConstants.TILE;
        long rows = box.size(across);
        long columns = box.size(0);
        long rowTiles = (rows + tile - 1) / tile;
        long columnTiles = (columns + tile - 1) / tile;
        StridedBox batch = box.without(0, across);
        Kernel kernel = transpose.of(ofSize(bytes));
        batch.forEachPart(Math.max(1, (1L << 30) / (rowTiles * columnTiles)), part -> {
            long tiles = rowTiles * columnTiles * part.elements();
            Arguments arguments = Arguments.of(TRANSPOSE)
                    .set(TRANSPOSE.batch, part)
                    .set(TRANSPOSE.strides, part)
                    .set(TRANSPOSE.dst, to + part.offset(DST) * bytes)
                    .set(TRANSPOSE.src, from + part.offset(SRC) * bytes)
                    .set(TRANSPOSE.dstRow, box.stride(DST, across))
                    .set(TRANSPOSE.srcColumn, box.stride(SRC, 0))
                    .set(TRANSPOSE.tiles, tiles)
                    .set(TRANSPOSE.rowTiles, rowTiles)
                    .set(TRANSPOSE.columnTiles, columnTiles)
                    .set(TRANSPOSE.rows, (int) rows)
                    .set(TRANSPOSE.columns, (int) columns);
            kernel.launch(Grid.blocks(device, tiles * Grid.THREADS), Grid.THREADS, arguments);
        });
    }

    /** See {@link org.tp4j.tensor.ElementwiseKernels#fill}. */
    void fill(NdArray out, double value) {
        long n = out.elements();
        if (n == 0) {
            return;
        }
        long bits = out.dtype().encode(value);
        if (out.dtype().bytes() == Long.BYTES && (int) bits != (int) (bits >>> Integer.SIZE)) {
            Arguments arguments =
                    Arguments.of(FILL).set(FILL.out, out).set(FILL.n, n).set(FILL.bits, bits);
            fill.of(DType.INT64).launch(Grid.blocksOfPacks(device, n, Long.BYTES), Grid.THREADS, arguments);
            return;
        }
        device.makeCurrent();
        DeviceMemory memory = CudaStorage.pointerTo(out);
        int result = switch (out.dtype().bytes()) {
            case 1 -> JCudaDriver.cuMemsetD8Async(memory, (byte) bits, n, stream.stream());
            case 2 -> JCudaDriver.cuMemsetD16Async(memory, (short) bits, n, stream.stream());
            case 4 -> JCudaDriver.cuMemsetD32Async(memory, (int) bits, n, stream.stream());
            default -> JCudaDriver.cuMemsetD32Async(memory, (int) bits, 2 * n, stream.stream());
        };
        Cuda.check(result, "fill of " + out);
        stream.note(StreamTrace.Kind.COPY, "fill");
    }

    /** See {@link org.tp4j.tensor.ElementwiseKernels#where}. */
    void where(NdArray condition, NdArray a, NdArray b, NdArray out) {
        if (out.elements() == 0) {
            return;
        }
        int bytes = out.dtype().bytes();
        long choice = CudaStorage.addressOf(condition);
        long fromA = CudaStorage.addressOf(a);
        long fromB = CudaStorage.addressOf(b);
        long to = CudaStorage.addressOf(out);
        StridedBox.of(
                        out.shape().toArray(),
                        StridedBox.broadcastStrides(condition.shape(), out.shape()),
                        StridedBox.broadcastStrides(a.shape(), out.shape()),
                        StridedBox.broadcastStrides(b.shape(), out.shape()))
                .forEachPart(part -> {
                    Arguments arguments = Arguments.of(WHERE)
                            .set(WHERE.box, part)
                            .set(WHERE.strides, part)
                            .set(WHERE.condition, choice + part.offset(0))
                            .set(WHERE.left, fromA + part.offset(1) * bytes)
                            .set(WHERE.right, fromB + part.offset(2) * bytes)
                            .set(WHERE.out, to + part.first() * bytes)
                            .set(WHERE.n, part.elements());
                    where.of(ofSize(bytes))
                            .launch(Grid.blocksOfPacks(device, part.elements(), bytes), Grid.THREADS, arguments);
                });
    }
}
