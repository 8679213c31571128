package org.tp4j.comm.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;

/** Decides what carries the collectives of ranks on devices. */
public final class GroupEngines {
    private GroupEngines() {}

    /**
     * The engine for a job's ranks; empty if their collectives go through the host's memory.
     *
     * <p>By {@link CommunicationOptions#engine()}: {@code host} is the host's memory; the name of an engine is that one or
     * an error; {@code auto} is the device type's engine where every rank has a device of its own, the host's memory
     * otherwise. A rank that is alone needs none.
     *
     * @param deviceType what the ranks compute on
     * @param ranks number of ranks of the job
     * @param ownDevices whether every rank has a device of its own
     * @throws CommunicationException if the engine is needed and cannot be used, or was named and does not fit
     */
    public static Optional<GroupEngine> choose(
            String deviceType, int ranks, boolean ownDevices, CommunicationOptions options) {
        String wanted = options.engine();
        if (wanted.equals(CommunicationOptions.HOST)) {
            return Optional.empty();
        }
        boolean auto = wanted.equals(CommunicationOptions.AUTO);
        List<String> names = new ArrayList<>();
        for (GroupEngine engine : ServiceLoader.load(GroupEngine.class)) {
            if (engine.deviceType().equals(deviceType) && (auto || engine.name().equals(wanted))) {
                return usable(engine, ranks, ownDevices, auto);
            }
            names.add(engine.name() + " (for " + engine.deviceType() + ")");
        }
        if (auto) {
            return Optional.empty();
        }
        throw new CommunicationException("no engine '" + wanted + "' for device type '" + deviceType
                + "' on the class path, which has " + names + "; HINT: -D" + CommunicationOptions.ENGINE
                + "=auto, or host for the host's memory; nccl is in org.tp4j:tp-nccl");
    }

    /** Each engine on the class path and why it cannot be used here, or an empty string if it can. */
    public static Map<String, String> availability() {
        Map<String, String> result = new LinkedHashMap<>();
        for (GroupEngine engine : ServiceLoader.load(GroupEngine.class)) {
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
                    + "=host does without, slowly: through the host's memory");
        }
        return Optional.of(engine);
    }
}
