package org.tp4j.mpi;

import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupEngines;
import org.tp4j.comm.engine.GroupSession;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.comm.record.CheckingGroup;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.Device;

/** The world of a rank under mpirun: its device, and the group of all ranks over the fastest available engine. */
final class MpiWorld implements World {
    private static final Logger LOG = LoggerFactory.getLogger(MpiWorld.class);

    private final Backend backend;
    private final ProcessGroup group;
    private final int localRank;
    private final int localSize;
    private final @Nullable GroupSession session;

    /**
     * Takes the device with the rank's number on its machine; if there are fewer devices than ranks, they are shared in
     * turn. Every rank calls it.
     */
    MpiWorld(MpiProcess process, LaunchOptions options) {
        this.localRank = process.localRank();
        this.localSize = process.localSize();
        String type = options.deviceType();
        ProcessGroup world = process.world();
        GroupSession joined = null;
        if (type.equals(Device.CPU.type())) {
            this.backend = Backends.of(Device.CPU);
        } else {
            BackendProvider provider = Backends.provider(type);
            int index = localRank % provider.deviceCount();
            List<String> devices = process.share(MpiProcess.hostName() + " " + provider.identity(index));
            boolean ownDevices = new HashSet<>(devices).size() == devices.size();
            Optional<GroupEngine> engine = GroupEngines.choose(type, world.size(), ownDevices, options.communication());
            this.backend = Backends.of(new Device(type, index));
            if (engine.isPresent()) {
                joined = engine.get().join(process.member(backend));
                world = joined.world();
            } else if (world.rank() == 0 && !ownDevices && !isHost(options)) {
                LOG.warn("{} ranks share devices: collectives go through host memory, which is slow", world.size());
            }
        }
        this.session = joined;
        this.group = options.communication().checking() ? new CheckingGroup(world, backend) : world;
    }

    private static boolean isHost(LaunchOptions options) {
        return options.communication().engine().equals(CommunicationOptions.HOST);
    }

    /** Leaves the engine between the devices, after the rank's program has returned. */
    void leave() {
        if (session != null) {
            session.close();
        }
    }

    /** Aborts the engine between the devices. */
    void abort(Throwable reason) {
        if (session != null) {
            session.abort(new CommunicationException("the rank has failed: " + reason, reason));
        }
    }

    @Override
    public int localRank() {
        return localRank;
    }

    @Override
    public int localSize() {
        return localSize;
    }

    @Override
    public ProcessGroup group() {
        return group;
    }

    @Override
    public Backend backend() {
        return backend;
    }

    @Override
    public String launcher() {
        return "mpi";
    }

    /** Does nothing: the launcher closes what it has opened. */
    @Override
    public void close() {}
}
