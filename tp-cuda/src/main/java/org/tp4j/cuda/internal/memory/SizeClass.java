package org.tp4j.cuda.internal.memory;

/** Sizes of blocks: eight steps per doubling, so that a freed block fits the next request of a similar size. */
final class SizeClass {
    private static final int SMALLEST_LOG2 = 9; // 512 bytes, which is also the alignment of every block
    private static final int STEPS_LOG2 = 3;

    /** The number of size classes. */
    static final int COUNT = (Long.SIZE - SMALLEST_LOG2) << STEPS_LOG2;

    private SizeClass() {}

    /** The smallest size class that holds {@code bytes}. */
    static int of(long bytes) {
        long n = Math.max(bytes, 1L << SMALLEST_LOG2) - 1;
        int log2 = Long.SIZE - 1 - Long.numberOfLeadingZeros(n);
        int step = (int) (n >>> (log2 - STEPS_LOG2)) & ((1 << STEPS_LOG2) - 1);
        return Math.max(0, ((log2 - SMALLEST_LOG2) << STEPS_LOG2) + step + 1);
    }

    /** The bytes of a block of a size class. */
    static long bytesOf(int sizeClass) {
        int log2 = SMALLEST_LOG2 + (sizeClass >> STEPS_LOG2);
        long step = sizeClass & ((1 << STEPS_LOG2) - 1);
        return (1L << log2) + (step << (log2 - STEPS_LOG2));
    }
}
