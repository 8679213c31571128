package org.tp4j.cpu.internal.scalar;

/**
 * Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11: ten rounds that
 * turn a 128-bit counter and a 64-bit key into 128 random bits.
 */
public final class Philox {
    /** Multipliers of the rounds. */
    public static final long M0 = 0xD2511F53L;

    public static final long M1 = 0xCD9E8D57L;
    /** What the key's words grow by each round. */
    public static final int W0 = 0x9E3779B9;

    public static final int W1 = 0xBB67AE85;
    private static final long LOW = 0xffffffffL;

    private Philox() {}

    /**
     * The four words of one counter.
     *
     * @param key low word first
     * @param counterLow words 0 and 1 of the counter
     * @param counterHigh words 2 and 3 of the counter
     */
    public static void block(long key, long counterLow, long counterHigh, int[] out, int at) {
        int k0 = (int) key;
        int k1 = (int) (key >>> 32);
        int c0 = (int) counterLow;
        int c1 = (int) (counterLow >>> 32);
        int c2 = (int) counterHigh;
        int c3 = (int) (counterHigh >>> 32);
        for (int round = 0; round < 10; round++) {
            long p0 = M0 * (c0 & LOW);
            long p1 = M1 * (c2 & LOW);
            c0 = (int) (p1 >>> 32) ^ c1 ^ k0;
            c2 = (int) (p0 >>> 32) ^ c3 ^ k1;
            c1 = (int) p1;
            c3 = (int) p0;
            k0 += W0;
            k1 += W1;
        }
        out[at] = c0;
        out[at + 1] = c1;
        out[at + 2] = c2;
        out[at + 3] = c3;
    }

    /**
     * The words of consecutive counters, from out[0] on.
     *
     * @param key low word first
     * @param counterLow words 0 and 1 of the first counter
     * @param counterHigh words 2 and 3 of all counters
     */
    public static void fill(long key, long counterLow, long counterHigh, int[] out, int blocks) {
        for (int i = 0; i < blocks; i++) {
            block(key, counterLow + i, counterHigh, out, 4 * i);
        }
    }
}
