package org.tp4j.threads;

import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupEngines;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.Device;

/** The device of each rank of this JVM, and the engine that carries their collectives. */
final class DeviceAssignment {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceAssignment.class);

    private final String deviceType;
    private final int devices;
    private final Optional<GroupEngine> engine;

    /**
     * Rank r computes on device r; if there are fewer devices, ranks share them in turn.
     *
     * @throws org.tp4j.tensor.TpException if the devices or the requested engine cannot be used
     */
    DeviceAssignment(String deviceType, int ranks, CommunicationOptions options) {
        this.deviceType = deviceType;
        if (isCpu()) {
            this.devices = 1;
            this.engine = Optional.empty();
            return;
        }
        BackendProvider provider = Backends.provider(deviceType);
        this.devices = provider.deviceCount();
        this.engine = GroupEngines.choose(deviceType, ranks, ranks <= devices, options);
        if (engine.isEmpty() && ranks > 1 && !options.engine().equals(CommunicationOptions.HOST)) {
            LOG.warn(
                    "{} ranks share {} {} device(s): collectives go through host memory, which is slow",
                    ranks,
                    devices,
                    deviceType);
        }
    }

    private boolean isCpu() {
        return deviceType.equals(Device.CPU.type());
    }

    /** The engine between the ranks' devices; empty if collectives go through host memory. */
    Optional<GroupEngine> engine() {
        return engine;
    }

    /** The device of a rank. */
    Backend backend(int rank) {
        return isCpu() ? CpuBackend.get() : Backends.of(new Device(deviceType, rank % devices));
    }
}
