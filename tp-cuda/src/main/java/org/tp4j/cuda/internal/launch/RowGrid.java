package org.tp4j.cuda.internal.launch;

import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.cuda.internal.memory.CudaStorage;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.TpException;

/**
 * How kernels divide up rows: each goes to a group of threads, a power of two within a warp or a whole block, that load 16
 * bytes at a time.
 *
 * @param group threads per row
 * @param threads threads per block
 * @param blocks blocks
 * @param packs the maximum number of 16-byte packs a row touches, wherever it starts
 */
public record RowGrid(int group, int threads, long blocks, int packs) {
    /** Packs of a row that a thread keeps. */
    static final int KEPT = KernelConstants.KEPT;

    private static final int MOST_THREADS = KernelConstants.MOST_THREADS;
    private static final int WARP = 32;
    private static final int LOOP_THREADS = 256;
    private static final int SHORT_ROW_THREADS = 128;
    private static final int LONGEST = 1 << 30;

    /** A grid for kernels that keep rows in registers if they can; x is read first, in rows of n elements. */
    public static RowGrid of(long rows, long n, NdArray x) {
        return of(rows, n, x, MOST_THREADS);
    }

    /** A grid for kernels that loop over rows, where several blocks per multiprocessor do better than one large block. */
    public static RowGrid ofLoop(long rows, long n, NdArray x) {
        return of(rows, n, x, LOOP_THREADS);
    }

    private static RowGrid of(long rows, long n, NdArray x, int most) {
        if (n > LONGEST) {
            throw new TpException("a row of " + n + " elements was given to a CUDA kernel that takes rows of at most "
                    + LONGEST + "; HINT: split the last dimension");
        }
        int packs = (int) packs(n, x.dtype(), CudaStorage.addressOf(x));
        int group = powerOfTwo(Math.min((packs + KEPT - 1) / KEPT, most));
        int threads = threads(group);
        int rowsABlock = threads / group;
        return new RowGrid(group, threads, (rows + rowsABlock - 1) / rowsABlock, packs);
    }

    /** Threads per block for a group size: a group larger than a warp is a block. */
    public static int threads(int group) {
        return group > WARP ? group : SHORT_ROW_THREADS;
    }

    /** The maximum number of 16-byte packs that a row of n elements touches, if rows follow one another from an address. */
    public static long packs(long n, DType dtype, long address) {
        long elements = 16 / dtype.bytes();
        boolean aligned = address % 16 == 0 && n % elements == 0;
        return aligned ? n / elements : (n + elements - 2) / elements + 1;
    }

    /** The smallest power of two that is at least n. */
    public static int powerOfTwo(long n) {
        return n <= 1 ? 1 : Integer.highestOneBit((int) n - 1) << 1;
    }

    /** Whether the threads of a row can keep all of it. */
    public boolean keepsRow() {
        return packs <= group * KEPT;
    }
}
