package org.tp4j.tests.bench;

/** The other side of a comparison cannot be had; the message says why. */
final class PeerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    PeerException(String message) {
        super(message);
    }
}
