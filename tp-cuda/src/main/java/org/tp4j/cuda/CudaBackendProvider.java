package org.tp4j.cuda;

import java.util.Optional;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;

/** Serves the device type {@code cuda}. */
public final class CudaBackendProvider implements BackendProvider {
    /** Called by {@link java.util.ServiceLoader}. */
    public CudaBackendProvider() {}

    @Override
    public String deviceType() {
        return "cuda";
    }

    @Override
    public Optional<String> unavailable() {
        return CudaLibraries.unavailable();
    }

    @Override
    public Backend open(int index) {
        return CudaBackend.of(index);
    }
}
