package org.tp4j.comm;

import org.tp4j.tensor.Pending;

/**
 * A collective under way. Its arrays must not be touched before {@link #await()} has returned.
 */
public interface Work extends Pending {
    /** Whether {@link #await()} would return at once. */
    boolean isDone();

    /** Work that is done. */
    static Work done() {
        return Done.INSTANCE;
    }

    /** Work that is done already. */
    enum Done implements Work {
        /** The instance. */
        INSTANCE;

        @Override
        public boolean isDone() {
            return true;
        }

        @Override
        public void await() {}
    }
}
