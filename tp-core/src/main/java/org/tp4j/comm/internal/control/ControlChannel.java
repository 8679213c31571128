package org.tp4j.comm.internal.control;

import java.util.List;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.KeyValueStore;

/** A rank's way to the job's {@link ControlBoard}. Thread-safe. */
public interface ControlChannel extends KeyValueStore {
    /**
     * Posts words to the handler of a topic on rank 0, one way: returns at once, whatever the network does. Posts arrive
     * once each and in order, also over connections that break; those that were not sent when the rank ends are lost unless
     * it calls {@link #flush}.
     *
     * @param topic topic of {@link ControlBoard#handle}
     * @param words at most 64 KiB; must not be changed afterwards
     * @throws CommunicationException if rank 0 has not taken posts for so long that 16 MiB of them wait
     */
    void post(String topic, byte[] words);

    /**
     * Waits until everything this rank has posted has been handled, and what was announced until then is among the
     * {@link #notices}.
     *
     * @throws CommunicationException if rank 0 does not answer in time
     */
    void flush(long timeoutMs);

    /**
     * What has been announced on a topic so far, oldest first, as far as this rank knows: at most about a heartbeat old. Does
     * not block.
     */
    List<byte[]> notices(String topic);
}
