package org.tp4j.comm.engine;

import java.util.Optional;
import org.tp4j.comm.CommunicationException;

/**
 * Short values that ranks publish for one another before they can communicate otherwise: over the control channel between
 * processes, in shared memory between threads. Thread-safe.
 */
public interface KeyValueStore {
    /** Stores a value under a key. */
    void set(String key, byte[] value);

    /** The value under a key, if there is one. */
    Optional<byte[]> get(String key);

    /**
     * Waits for the value under a key.
     *
     * @throws CommunicationException if it is not set in time
     */
    byte[] await(String key, long timeoutMs);
}
