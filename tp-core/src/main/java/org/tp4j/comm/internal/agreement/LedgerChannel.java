package org.tp4j.comm.internal.agreement;

import java.util.Optional;

/** A rank's way to the {@link Comparison}. */
public interface LedgerChannel {
    /** The topic of words, and of the disagreement that is announced. */
    String TOPIC = "agreement";

    /** Sends a word, one way; does not block. */
    void post(byte[] word);

    /** Waits until the words posted so far have been compared as far as those of others are there. */
    void flush(long timeoutMs);

    /** The disagreement that was found, as a message; empty if none is known yet. Does not block. */
    Optional<String> disagreement();

    /** The latest window of which the words of all ranks have been compared. */
    long comparedWindow();
}
