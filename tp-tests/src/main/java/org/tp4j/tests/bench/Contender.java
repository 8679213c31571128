package org.tp4j.tests.bench;

/** One side of a comparison: something that has been warmed up and can be timed again and again, in turns with the others. */
interface Contender extends AutoCloseable {
    /** What it is called in the report. */
    String name();

    /**
     * Makes it ready: whatever is compiled, captured or allocated at first use is so afterwards.
     *
     * @throws PeerException if it cannot be had
     */
    void warmUp();

    /** Milliseconds a call, over one burst of calls. */
    double time();

    @Override
    default void close() {}
}
