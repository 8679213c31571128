package org.tp4j.cudasim;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.TpException;

/** The simulator cannot be built or used here. */
public final class CudaSimulatorException extends TpException {
    private static final long serialVersionUID = 1L;

    CudaSimulatorException(String message) {
        super(message);
    }

    CudaSimulatorException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
