package org.tp4j.cuda.internal.launch;

import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.cuda.internal.driver.CudaDevice;

/**
 * How kernels divide up columns that are summed over m rows: adjacent threads of a block take adjacent columns, the
 * block's other threads take other rows of the same columns; if that leaves multiprocessors idle, the rows are split among
 * several blocks, whose results must then be combined.
 *
 * @param width adjacent threads, a power of two
 * @param blocks adjacent blocks
 * @param part rows per block; the last may have fewer
 * @param parts the number of parts
 */
public record ColumnGrid(int width, long blocks, long part, int parts) {
    /** Threads per block. */
    public static final int THREADS = KernelConstants.COLUMN_THREADS;

    /** Rows that a thread loads before it uses the first. */
    static final int AHEAD = KernelConstants.AHEAD;

    private static final int WARP = 32;
    private static final int MOST_PARTS = 65535; // blocks in the grid's second dimension
    private static final int BLOCKS_A_MULTIPROCESSOR = 4; // with up to 64 registers per thread

    /**
     * A grid.
     *
     * @param across packs of columns, one per thread
     * @param m rows
     */
    public static ColumnGrid of(CudaDevice device, long across, long m) {
        int width = RowGrid.powerOfTwo(Math.min(across, WARP));
        if (m < THREADS / width) {
            width = THREADS / RowGrid.powerOfTwo(m);
        }
        long blocks = (across + width - 1) / width;
        long rowsAtOnce = (long) THREADS / width * AHEAD;
        long wanted = Math.min(wantedBlocks(device) / blocks, m / (2 * rowsAtOnce));
        long parts = Math.max(1, Math.min(wanted, MOST_PARTS));
        long part = Math.max(1, (m + parts - 1) / parts);
        return new ColumnGrid(width, blocks, part, (int) Math.max(1, (m + part - 1) / part));
    }

    /** How many blocks keep a device busy. */
    public static long wantedBlocks(CudaDevice device) {
        return (long) BLOCKS_A_MULTIPROCESSOR * device.multiprocessors();
    }
}
