package org.tp4j.cuda.internal.launch;

import org.tp4j.cuda.internal.driver.CudaDevice;

/** Grids of kernels with grid-stride loops. */
public final class Grid {
    /** Threads per block. */
    public static final int THREADS = 256;

    /** Several times the number of resident blocks, so that the last blocks do not leave most of the device idle. */
    private static final long BLOCKS_A_MULTIPROCESSOR = 32;

    private Grid() {}

    /** Enough blocks for {@code items}, one per thread, but no more than keep the device busy. */
    public static long blocks(CudaDevice device, long items) {
        return Math.min((items + THREADS - 1) / THREADS, device.multiprocessors() * BLOCKS_A_MULTIPROCESSOR);
    }

    /** Blocks for a loop over n elements, 16 bytes at a time. */
    public static long blocksOfPacks(CudaDevice device, long n, int bytes) {
        int pack = Math.max(1, 16 / bytes);
        return blocks(device, (n + pack - 1) / pack);
    }
}
