package org.tp4j.cuda.internal.compile;

import org.tp4j.cuda.internal.arguments.ArgumentStruct;

/** The sizes on which kernels and the code that launches them have to agree; {@link GeneratedHeaders} hands them over. */
public final class KernelConstants {
    /** Dimensions that a kernel takes, after merging. */
    public static final int MAX_DIMS = ArgumentStruct.MAX_DIMS;

    /** Bytes of a {@code Named} of embedding.cu. */
    public static final int NAMED_BYTES = 16;

    /** Packs of a row that a thread keeps in registers. */
    public static final int KEPT = 4;

    /** Loads under way in a thread of a reduction. */
    public static final int AHEAD = 4;

    /** The most threads of a block for rows, which leaves each of them 128 registers. */
    public static final int MOST_THREADS = 512;

    /** The threads of a block for columns. */
    public static final int COLUMN_THREADS = 256;

    /** Rows and columns of the tile that a transposition turns in shared memory, for elements of 4 and more bytes. */
    public static final int TILE = 32;

    /** The same for smaller elements. */
    public static final int TILE_OF_SMALL = 64;

    private KernelConstants() {}
}
