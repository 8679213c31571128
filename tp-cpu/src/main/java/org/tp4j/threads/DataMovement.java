package org.tp4j.threads;

/**
 * What a call does to its parties' arrays: runs of elements, one after the other, divided into chunks that any thread may
 * do in any order. A chunk reads what it needs of an input before it writes the same elements, so in-place calls need no
 * copy.
 */
final class DataMovement {
    /** Elements in the smallest chunk: several microseconds of work, against 0.1 to claim it. */
    private static final int SMALLEST = 4 * 1024;

    /** Elements in the largest chunk: its inputs and outputs stay in a core's second-level cache. */
    private static final int LARGEST = 16 * 1024;

    private static final int CHUNKS_PER_RANK = 2;

    /** Moves or reduces part of a run. */
    interface Mover {
        /**
         * Does {@code length} elements.
         *
         * @param run index of the run
         * @param begin where the run begins in the concatenation of all runs
         * @param at first element within the run
         */
        void move(int run, int begin, int at, int length);
    }

    private final Party[] parties;
    private final Mover mover;
    private final long[] runs;
    private final int chunk;
    private final int chunks;

    /** A movement over runs of the given lengths. */
    DataMovement(Party[] parties, Mover mover, long... runs) {
        this.parties = parties;
        this.mover = mover;
        this.runs = runs;
        long total = 0;
        for (long run : runs) {
            total += run;
        }
        long fair = total / ((long) CHUNKS_PER_RANK * parties.length);
        this.chunk = (int) Math.max(SMALLEST, Math.min(LARGEST, fair));
        this.chunks = (int) ((total + chunk - 1) / chunk);
    }

    int chunks() {
        return chunks;
    }

    /** Does one chunk. */
    void run(int index) {
        for (Party party : parties) {
            party.checkLive();
        }
        long from = (long) index * chunk;
        long to = from + chunk;
        long begin = 0;
        for (int run = 0; run < runs.length && begin < to; run++) {
            long end = begin + runs[run];
            if (end > from) {
                long first = Math.max(from, begin);
                mover.move(run, (int) begin, (int) (first - begin), (int) (Math.min(to, end) - first));
            }
            begin = end;
        }
    }
}
