package org.tp4j.tensor;

/** Something under way that can be waited for. */
public interface Pending {
    /** Waits until the work is done; does nothing if it is. Rethrows what made it fail. */
    void await();
}
