package org.tp4j.cpu;

import java.util.Optional;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;
import org.tp4j.tensor.TpException;

/** Provides the device type {@code cpu}. */
public final class CpuBackendProvider implements BackendProvider {
    /** For {@link java.util.ServiceLoader}. */
    public CpuBackendProvider() {}

    @Override
    public String deviceType() {
        return "cpu";
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public Backend open(int index) {
        if (index != 0) {
            throw new TpException("device cpu:" + index + " was asked for; there is one CPU device, cpu");
        }
        return CpuBackend.get();
    }
}
