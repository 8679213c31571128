package org.tp4j.tensor;

import java.util.Optional;

/** Service that provides a device type; found by {@link java.util.ServiceLoader}. */
public interface BackendProvider {
    /** The device type it provides, such as {@code cpu} or {@code cuda}. */
    String deviceType();

    /** Why devices of this type cannot be used on this machine, in words for the user; empty if they can. */
    Optional<String> unavailable();

    /**
     * How many devices of the type are visible to this process.
     *
     * @throws TpException if they cannot be used
     */
    default int deviceCount() {
        return 1;
    }

    /**
     * An identifier of a device that is unique on the machine, whatever its index in this process.
     *
     * @throws TpException if it cannot be used
     */
    default String identity(int index) {
        return new Device(deviceType(), index).toString();
    }

    /**
     * The backend of one device, the same object each time.
     *
     * @param index index among the devices of the type, from 0
     * @throws TpException if it cannot be used, with what was looked for and what to install
     */
    Backend open(int index);
}
