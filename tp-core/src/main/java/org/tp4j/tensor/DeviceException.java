package org.tp4j.tensor;

import org.jspecify.annotations.Nullable;

/** A device that is missing, unusable, or has failed: a driver call, a kernel, a library. */
public class DeviceException extends TpException {
    private static final long serialVersionUID = 1L;

    /** With what was asked, what was found and what helps. */
    public DeviceException(String message) {
        super(message);
    }

    /** As {@link #DeviceException(String)}, with what led to it. */
    public DeviceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
