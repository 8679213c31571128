package org.tp4j.cuda.internal.launch;

import org.tp4j.cuda.internal.compile.KernelConstants;
import org.tp4j.cuda.internal.driver.CudaDevice;

/**
 * How kernels share out columns that are summed over m rows: neighbouring threads of a block take neighbouring columns, the
 * block's other threads take other rows of these; where that leaves multiprocessors idle, parts of the rows go to several
 * blocks, whose results are then to be combined.
 *
 * @param width threads side by side, a power of two
 * @param blocks blocks side by side
 * @param part rows a block, the last part has fewer
 * @param parts how many parts
 */
public record ColumnGrid(int width, long blocks, long part, int parts) {
    /** Threads per block. */
    public static final int THREADS = KernelConstants.COLUMN_THREADS;

    /** Rows that a thread loads before it uses the first. */
    static final int AHEAD = KernelConstants.AHEAD;

    private static final int WARP = 32;
    private static final int MOST_PARTS = 65535; // blocks in the grid's second dimension
    private static final int BLOCKS_A_MULTIPROCESSOR = 4; // with up to 64 registers a thread

    /**
     * A grid.
     *
     * @param across packs of columns, one a thread
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
