package org.tp4j.tensor;

/** Asynchronous work that can be waited for. */
public interface Pending {
    /** Waits until the work is done; returns at once if it is. Throws what made it fail. */
    void await();
}
