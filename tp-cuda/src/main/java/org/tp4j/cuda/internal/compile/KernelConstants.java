package org.tp4j.cuda.internal.compile;

import org.tp4j.cuda.internal.arguments.ArgumentStruct;

/** The sizes on which kernels and the code that launches them must agree; {@link GeneratedHeaders} passes them on. */
public final class KernelConstants {
    /** The maximum number of dimensions a kernel takes, after merging. */
    public static final int MAX_DIMS = ArgumentStruct.MAX_DIMS;

    /** Size of {@code Named} in embedding.cu, in bytes. */
    public static final int NAMED_BYTES = 16;

    /** Packs of a row that a thread keeps in registers. */
    public static final int KEPT = 4;

    /** Loads in flight per thread of a reduction. */
    public static final int AHEAD = 4;

    /** The maximum number of threads per block for rows, which leaves 128 registers per thread. */
    public static final int MOST_THREADS = 512;

    /** Threads per block for columns. */
    public static final int COLUMN_THREADS = 256;

    /** Rows and columns of the tile transposed in shared memory, for elements of 4 or more bytes. */
    public static final int TILE = 32;

    /** The same for smaller elements. */
    public static final int TILE_OF_SMALL = 64;

    private KernelConstants() {}
}
