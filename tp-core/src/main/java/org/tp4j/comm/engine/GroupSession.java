package org.tp4j.comm.engine;

import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;

/** A rank's connection to the other ranks over a {@link GroupEngine}, from joining to leaving. */
public interface GroupSession extends AutoCloseable {
    /** The group of all ranks. */
    ProcessGroup world();

    /**
     * Aborts everything under way without waiting for other ranks. From then on until {@link #close()}, whatever this
     * rank's threads wait for or enqueue on the device throws {@code reason}. Any thread may call it at any time. Idempotent.
     */
    void abort(CommunicationException reason);

    /**
     * Waits until everything this rank has started is complete, and frees all its groups; after an abort, only makes the
     * device usable again. Idempotent.
     *
     * @throws CommunicationException if something does not complete
     */
    @Override
    void close();
}
