package org.tp4j.cuda;

import java.util.Optional;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;
import org.tp4j.tensor.TpException;

/** Serves the device type {@code cuda}; until the backend is built it only says so. */
public final class CudaBackendProvider implements BackendProvider {
    private static final String NOT_BUILT = "the CUDA backend is not part of this version";

    /** Called by {@link java.util.ServiceLoader}. */
    public CudaBackendProvider() {}

    @Override
    public String deviceType() {
        return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.of(NOT_BUILT);
    }

    @Override
    public Backend open(int index) {
        throw new TpException("device cuda:" + index + " was asked for, but " + NOT_BUILT + "; HINT: use --device cpu");
    }
}
