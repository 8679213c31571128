package org.tp4j.comm.engine;

import java.util.Optional;
import org.tp4j.comm.CommunicationException;

/**
 * Where ranks leave short notes for one another before they can communicate otherwise: the control channel between
 * processes, shared memory between threads. Safe for several threads.
 */
public interface KeyValueStore {
    /** Leaves a note for whoever asks for the key. */
    void set(String key, byte[] value);

    /** The note under a key, if there is one. */
    Optional<byte[]> get(String key);

    /**
     * The note under a key, as soon as it is there.
     *
     * @throws CommunicationException if it is not there in time
     */
    byte[] await(String key, long timeoutMs);
}
