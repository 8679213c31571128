package org.tp4j.comm.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.tensor.internal.services.Services;

/** Chooses the engine that carries collectives between devices. */
public final class GroupEngines {
    private GroupEngines() {}

    /**
     * The engine for a job's ranks; empty if their collectives go through host memory.
     *
     * <p>{@link CommunicationOptions#engine()} decides: {@code host} means host memory; the name of an engine means that
     * engine or an error; {@code auto} means the device type's engine if every rank has its own device, otherwise host
     * memory. A single rank needs no engine.
     *
     * @param deviceType type of the ranks' devices
     * @param ranks number of ranks of the job
     * @param ownDevices whether every rank has its own device
     * @throws CommunicationException if the engine is needed but cannot be used, or was named but does not fit
     */
    public static Optional<GroupEngine> choose(
            String deviceType, int ranks, boolean ownDevices, CommunicationOptions options) {
        String wanted = options.engine();
        if (wanted.equals(CommunicationOptions.HOST)) {
            return Optional.empty();
        }
        boolean auto = wanted.equals(CommunicationOptions.AUTO);
        List<String> names = new ArrayList<>();
        for (GroupEngine engine : Services.load(GroupEngine.class)) {
            if (engine.deviceType().equals(deviceType) && (auto || engine.name().equals(wanted))) {
                return usable(engine, ranks, ownDevices, auto);
            }
            names.add(engine.name() + " (for " + engine.deviceType() + ")");
        }
        if (auto) {
            return Optional.empty();
        }
        throw new CommunicationException("no engine '" + wanted + "' for device type '" + deviceType
                + "' on the class path, which has " + names
                + Services.explain(
                        GroupEngine.class,
                        wanted.equals("nccl") ? "org.tp4j.nccl.internal.NcclEngine" : null,
                        "-D" + CommunicationOptions.ENGINE
                                + "=auto, or host for host memory; nccl is in org.tp4j:tp-nccl"));
    }

    /** Each engine on the class path, and why it cannot be used here; an empty string if it can. */
    public static Map<String, String> availability() {
        Map<String, String> result = new LinkedHashMap<>();
        for (GroupEngine engine : Services.load(GroupEngine.class)) {
            result.put(engine.name(), engine.unavailable().orElse(""));
        }
        return result;
    }

    private static Optional<GroupEngine> usable(GroupEngine engine, int ranks, boolean ownDevices, boolean auto) {
        Optional<String> unavailable = engine.unavailable();
        if (auto && (!ownDevices || (ranks == 1 && unavailable.isPresent()))) {
            return Optional.empty();
        }
        if (!ownDevices) {
            throw new CommunicationException("engine " + engine.name() + " needs a device for each of the " + ranks
                    + " ranks, and there are fewer; HINT: start fewer ranks, or -D" + CommunicationOptions.ENGINE
                    + "=auto lets ranks share devices");
        }
        if (unavailable.isPresent()) {
            throw new CommunicationException(unavailable.get() + "; -D" + CommunicationOptions.ENGINE
                    + "=host needs none but is slow: collectives go through host memory");
        }
        return Optional.of(engine);
    }
}
