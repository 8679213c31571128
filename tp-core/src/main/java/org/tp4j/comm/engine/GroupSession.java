package org.tp4j.comm.engine;

import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.ProcessGroup;

/** A rank's part in the communication of a {@link GroupEngine}, from joining to leaving. */
public interface GroupSession extends AutoCloseable {
    /** The group of all ranks. */
    ProcessGroup world();

    /**
     * The disorderly end: ends what is under way without waiting for anybody. Whatever this rank's threads wait for or ask
     * of the device next throws {@code reason}, until {@link #close()}. For any thread, at any time; does nothing once it has
     * ended.
     */
    void abort(CommunicationException reason);

    /**
     * The end: waits until everything this rank has started is complete, and frees all its groups; after an abort, only
     * leaves the device in order for whoever uses it next. Does nothing once it has ended.
     *
     * @throws CommunicationException if that does not complete
     */
    @Override
    void close();
}
