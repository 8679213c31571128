package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/** Root of the library's own unchecked exceptions; the subclasses carry what they are about as data. */
public class TpException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** An exception whose message says what was asked, what was found and what mends it. */
    public TpException(String message) {
        super(message);
    }

    /** As {@link #TpException(String)}, with what led to it. */
    public TpException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
