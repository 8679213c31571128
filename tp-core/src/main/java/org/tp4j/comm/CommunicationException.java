package org.tp4j.comm;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.TpException;

/** A collective failed: ranks disagree on the call, a peer has gone, or time ran out. Names the rank and the call. */
public class CommunicationException extends TpException {
    private static final long serialVersionUID = 1L;

    /** With what was asked, what was found and what mends it. */
    public CommunicationException(String message) {
        super(message);
    }

    /** As above, with what led to it (a peer's own exception, where it is known). */
    public CommunicationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
