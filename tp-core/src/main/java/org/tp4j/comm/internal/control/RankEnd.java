package org.tp4j.comm.internal.control;

/**
 * How a rank ended; it makes no further calls.
 *
 * @param rank its number
 * @param kind in which way
 * @param detail what it threw, where it called {@code System.exit}, what happened to its connection; may be empty
 * @param last its last known status
 */
public record RankEnd(int rank, Kind kind, String detail, RankStatus last) {
    /** Ways to end. */
    public enum Kind {
        /** Its program returned. */
        RETURNED("has returned"),
        /** Its program threw. */
        FAILED("has failed"),
        /** Its process exited in the middle of its program. */
        EXITED("has exited"),
        /** Its process ended without saying so. */
        LOST("is gone");

        private final String text;

        Kind(String text) {
            this.text = text;
        }
    }

    /** Whether it ended before its program did. */
    public boolean isFailure() {
        return kind != Kind.RETURNED;
    }

    /** Such as {@code rank 2 has failed: java.lang.IllegalStateException: boom}. */
    public String describe() {
        return "rank " + rank + " " + kind.text + (detail.isEmpty() ? "" : ": " + detail);
    }
}
