package org.tp4j.comm;

/**
 * Ranks disagree on something that must be equal: a collective, the data of a tensor, an operation of the backward pass, a
 * learning rate. The message names the ranks and what differs.
 */
public final class DisagreementException extends CommunicationException {
    private static final long serialVersionUID = 1L;

    /** A disagreement. */
    public DisagreementException(String message) {
        super(message);
    }
}
