package org.tp4j.tensor;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tp4j.tensor.internal.services.Services;

/** The backends on the class path. */
public final class Backends {
    /** The classes of this project's own providers, for messages. */
    private static final Map<String, String> KNOWN =
            Map.of("cpu", "org.tp4j.cpu.CpuBackendProvider", "cuda", "org.tp4j.cuda.CudaBackendProvider");

    private Backends() {}

    /**
     * The backend of a device.
     *
     * @throws TpException if no module on the class path provides the type, or the device cannot be used
     */
    public static Backend of(Device device) {
        return provider(device.type()).open(device.index());
    }

    /**
     * The provider of a device type.
     *
     * @throws TpException if no module on the class path does
     */
    public static BackendProvider provider(String deviceType) {
        for (BackendProvider provider : Services.load(BackendProvider.class)) {
            if (provider.deviceType().equals(deviceType)) {
                return provider;
            }
        }
        throw new TpException("no backend for device type '" + deviceType + "' on the class path: found "
                + availability().keySet()
                + Services.explain(
                        BackendProvider.class, KNOWN.get(deviceType), "add the dependency org.tp4j:tp-" + deviceType));
    }

    /** Each device type on the class path and why it cannot be used here, or an empty string if it can. */
    public static Map<String, String> availability() {
        Map<String, String> result = new LinkedHashMap<>();
        for (BackendProvider provider : Services.load(BackendProvider.class)) {
            result.put(provider.deviceType(), provider.unavailable().orElse(""));
        }
        return result;
    }
}
