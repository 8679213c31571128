package org.tp4j.comm;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.TpException;

/** A collective failed: ranks disagree on the call, a peer has exited, or it timed out. Names the rank and the call. */
public class CommunicationException extends TpException {
    private static final long serialVersionUID = 1L;

    /** Says what was requested, what was found and how to fix it. */
    public CommunicationException(String message) {
        super(message);
    }

    /** As above, with the cause: a peer's own exception if it is known. */
    public CommunicationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
