package org.tp4j.cpu.internal.memory;

import java.util.Arrays;

/**
 * Copies boxes between strided windows of arrays of any one type. Dimensions that are contiguous in both windows
 * are merged; contiguous inner runs are moved as blocks; where one window runs along another dimension than the other (a
 * transpose), both dimensions are cut into tiles so that every cache line fetched is used whole.
 */
public final class StridedCopy {
    private static final int TILE = 32;

    private final Object src;
    private final Object dst;
    private final int dims;
    private final int[] sizes;
    private final int[] srcStrides;
    private final int[] dstStrides;

    private StridedCopy(Object src, Object dst, int dims, int[] sizes, int[] srcStrides, int[] dstStrides) {
        this.src = src;
        this.dst = dst;
        this.dims = dims;
        this.sizes = sizes;
        this.srcStrides = srcStrides;
        this.dstStrides = dstStrides;
    }

    /** See {@link org.tp4j.tensor.ElementwiseKernels#copy}; offsets count from the beginning of the arrays. */
    public static void copy(
            Object src, long srcAt, long[] srcStrides, Object dst, long dstAt, long[] dstStrides, long[] sizes) {
        if (sizes.length == 1 && srcStrides[0] == 1 && dstStrides[0] == 1) {
            System.arraycopy(src, (int) srcAt, dst, (int) dstAt, (int) sizes[0]);
            return;
        }
        int n = sizes.length;
        int[] size = new int[n];
        int[] from = new int[n];
        int[] to = new int[n];
        int dims = 0; // [0] is the innermost
        for (int d = n - 1; d >= 0; d--) {
            if (sizes[d] == 0) {
                return;
            } else if (sizes[d] == 1) {
                continue;
            }
            if (dims > 0
                    && srcStrides[d] == (long) from[dims - 1] * size[dims - 1]
                    && dstStrides[d] == (long) to[dims - 1] * size[dims - 1]) {
                size[dims - 1] *= (int) sizes[d];
            } else {
                size[dims] = (int) sizes[d];
                from[dims] = (int) srcStrides[d];
                to[dims] = (int) dstStrides[d];
                dims++;
            }
        }
        new StridedCopy(src, dst, dims, size, from, to).run((int) srcAt, (int) dstAt);
    }

    private void run(int srcAt, int dstAt) {
        if (dims == 0) {
            System.arraycopy(src, srcAt, dst, dstAt, 1);
        } else if (srcStrides[0] == 1 && dstStrides[0] == 1) {
            blocks(dims - 1, srcAt, dstAt);
        } else {
            int across = across();
            if (across > 0) {
                tiles(dims - 1, across, srcAt, dstAt);
            } else {
                strips(dims - 1, srcAt, dstAt);
            }
        }
    }

    /** The dimension along which the window runs that does not run along the innermost; 0 if there is none. */
    private int across() {
        int[] strides = srcStrides[0] == 1 ? dstStrides : srcStrides;
        for (int d = 1; d < dims; d++) {
            if (strides[d] == 1) {
                return d;
            }
        }
        return 0;
    }

    private void blocks(int d, int srcAt, int dstAt) {
        if (d == 0) {
            System.arraycopy(src, srcAt, dst, dstAt, sizes[0]);
        } else {
            for (int i = 0; i < sizes[d]; i++) {
                blocks(d - 1, srcAt + i * srcStrides[d], dstAt + i * dstStrides[d]);
            }
        }
    }

    private void strips(int d, int srcAt, int dstAt) {
        if (d == 0) {
            strip(srcAt, srcStrides[0], dstAt, dstStrides[0], sizes[0]);
        } else {
            for (int i = 0; i < sizes[d]; i++) {
                strips(d - 1, srcAt + i * srcStrides[d], dstAt + i * dstStrides[d]);
            }
        }
    }

    private void tiles(int d, int across, int srcAt, int dstAt) {
        if (d == across) {
            tiles(d - 1, across, srcAt, dstAt);
        } else if (d > 0) {
            for (int i = 0; i < sizes[d]; i++) {
                tiles(d - 1, across, srcAt + i * srcStrides[d], dstAt + i * dstStrides[d]);
            }
        } else {
            for (int i = 0; i < sizes[across]; i += TILE) {
                int iEnd = Math.min(i + TILE, sizes[across]);
                for (int j = 0; j < sizes[0]; j += TILE) {
                    int length = Math.min(TILE, sizes[0] - j);
                    for (int k = i; k < iEnd; k++) {
                        strip(
                                srcAt + k * srcStrides[across] + j * srcStrides[0],
                                srcStrides[0],
                                dstAt + k * dstStrides[across] + j * dstStrides[0],
                                dstStrides[0],
                                length);
                    }
                }
            }
        }
    }

    private void strip(int srcAt, int srcStride, int dstAt, int dstStride, int n) {
        if (srcStride == 0 && dstStride == 1) {
            fill(srcAt, dstAt, n);
        } else if (src instanceof float[] from) {
            float[] to = (float[]) dst;
            for (int i = 0; i < n; i++) {
                to[dstAt + i * dstStride] = from[srcAt + i * srcStride];
            }
        } else if (src instanceof short[] from) {
            short[] to = (short[]) dst;
            for (int i = 0; i < n; i++) {
                to[dstAt + i * dstStride] = from[srcAt + i * srcStride];
            }
        } else if (src instanceof double[] from) {
            double[] to = (double[]) dst;
            for (int i = 0; i < n; i++) {
                to[dstAt + i * dstStride] = from[srcAt + i * srcStride];
            }
        } else if (src instanceof int[] from) {
            int[] to = (int[]) dst;
            for (int i = 0; i < n; i++) {
                to[dstAt + i * dstStride] = from[srcAt + i * srcStride];
            }
        } else if (src instanceof long[] from) {
            long[] to = (long[]) dst;
            for (int i = 0; i < n; i++) {
                to[dstAt + i * dstStride] = from[srcAt + i * srcStride];
            }
        } else {
            byte[] from = (byte[]) src;
            byte[] to = (byte[]) dst;
            for (int i = 0; i < n; i++) {
                to[dstAt + i * dstStride] = from[srcAt + i * srcStride];
            }
        }
    }

    /** Repeats one element along a stretched dimension. */
    private void fill(int srcAt, int dstAt, int n) {
        if (src instanceof float[] from) {
            Arrays.fill((float[]) dst, dstAt, dstAt + n, from[srcAt]);
        } else if (src instanceof short[] from) {
            Arrays.fill((short[]) dst, dstAt, dstAt + n, from[srcAt]);
        } else if (src instanceof double[] from) {
            Arrays.fill((double[]) dst, dstAt, dstAt + n, from[srcAt]);
        } else if (src instanceof int[] from) {
            Arrays.fill((int[]) dst, dstAt, dstAt + n, from[srcAt]);
        } else if (src instanceof long[] from) {
            Arrays.fill((long[]) dst, dstAt, dstAt + n, from[srcAt]);
        } else {
            Arrays.fill((byte[]) dst, dstAt, dstAt + n, ((byte[]) src)[srcAt]);
        }
    }
}
