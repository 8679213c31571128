package org.tp4j.comm.launch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupEngines;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.engine.GroupSession;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.internal.agreement.Ledger;
import org.tp4j.comm.internal.control.BoardAgreement;
import org.tp4j.comm.internal.control.ControlBoard;
import org.tp4j.comm.internal.control.ControlLink;
import org.tp4j.comm.internal.control.ControlServer;
import org.tp4j.comm.internal.control.Departure;
import org.tp4j.comm.internal.control.JobStragglers;
import org.tp4j.comm.internal.control.ProcessEnd;
import org.tp4j.comm.internal.control.RankEnd;
import org.tp4j.comm.record.CheckingGroup;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.BackendProvider;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.Device;

/** One rank of a job that was started without MPI, from finding the other ranks to leaving them. */
final class EnvironmentRank {
    private static final Logger LOG = LoggerFactory.getLogger(EnvironmentRank.class);
    private static final long POLL_MS = 20;
    private static final long TELL_MS = 2_000; // for the other ranks to learn how this one has ended
    private static final long LEAVE_MS = 10_000; // for the other ranks to learn that all have returned
    private static final String DEVICE = "device/";

    private final LaunchEnvironment launched;
    private final LaunchOptions options;
    private final FlightRecorder recorder;
    private final @Nullable ControlServer server;
    private final ControlLink link;
    private final Stragglers stragglers;
    private final AtomicBoolean over = new AtomicBoolean();
    private final Thread hook = new Thread(this::endedFromOutside, "tp4j-env-end");
    private @Nullable GroupSession session;

    /** Opens the control channel. */
    EnvironmentRank(LaunchEnvironment launched, LaunchOptions options) {
        this.launched = launched;
        this.options = options;
        this.recorder = new FlightRecorder(launched.rank());
        EnvironmentAddress address = EnvironmentAddress.read(System.getenv());
        this.server = launched.rank() == 0 ? serve(address, launched.size()) : null;
        try {
            this.link = ControlLink.connect(
                    address.host(),
                    address.port(),
                    address.secret(),
                    recorder,
                    ControlLink.periodMs(options.communication().timeoutMs()),
                    options.communication().startTimeoutMs());
        } catch (CommunicationException e) {
            if (server != null) {
                server.close();
            }
            throw e;
        }
        this.stragglers = new JobStragglers(link, launched.rank());
        if (options.communication().agreement()) {
            recorder.ledger().connect(BoardAgreement.over(link));
        }
        Runtime.getRuntime().addShutdownHook(hook);
    }

    private static ControlServer serve(EnvironmentAddress address, int ranks) {
        try {
            InetAddress at = InetAddress.getByName(address.host());
            return ControlServer.start(at, address.port(), address.secret(), new ControlBoard(ranks));
        } catch (UnknownHostException e) {
            throw new CommunicationException(
                    "rank 0 must serve the control channel at MASTER_ADDR " + address.host()
                            + ", a host that is unknown here; HINT: set it to the name or address of rank 0's machine",
                    e);
        }
    }

    /** Joins the other ranks, with its device. */
    World join() {
        String type = options.deviceType();
        BackendProvider provider = Backends.provider(type);
        int index = deviceIndex(provider.deviceCount());
        List<String> devices = share(hostName() + " " + provider.identity(index));
        checkOwnDevices(devices);
        GroupEngine engine = GroupEngines.choose(type, launched.size(), true, options.communication())
                .orElseThrow(() -> new CommunicationException(
                        "launcher env cannot carry collectives through host memory; HINT: remove -D"
                                + CommunicationOptions.ENGINE + "=host, or start the ranks with mpirun"));
        Backend backend = Backends.of(new Device(type, index));
        GroupSession joined = engine.join(new GroupMember(
                launched.rank(), launched.size(), backend, link, stragglers, recorder, options.communication()));
        session = joined;
        ProcessGroup group = joined.world();
        if (options.communication().checking()) {
            group = new CheckingGroup(group, backend);
        }
        String mine = hostName() + " ";
        int localSize =
                (int) devices.stream().filter(device -> device.startsWith(mine)).count();
        return new EnvironmentWorld(group, backend, Math.max(0, launched.localRank()), localSize);
    }

    /** The device of the local rank, or the only visible one. */
    private int deviceIndex(int count) {
        int localRank = launched.localRank();
        if (count == 1) {
            return 0;
        }
        if (localRank < 0) {
            throw new CommunicationException(
                    "rank " + launched.rank() + " of " + launched.size() + " sees " + count
                            + " devices, and nothing says which of them to use; HINT: set LOCAL_RANK to the rank's number on its machine");
        }
        if (localRank >= count) {
            throw new CommunicationException("rank " + launched.rank() + " of " + launched.size() + " has local rank "
                    + localRank + ", but this machine has " + count + " devices (" + options.deviceType() + ":0 to "
                    + options.deviceType() + ":" + (count - 1) + "); HINT: start at most " + count
                    + " ranks per machine, and check LOCAL_RANK and CUDA_VISIBLE_DEVICES");
        }
        return localRank;
    }

    /** All ranks' texts, in rank order. */
    private List<String> share(String text) {
        link.set(DEVICE + launched.rank(), text.getBytes(StandardCharsets.UTF_8));
        List<String> all = new ArrayList<>();
        for (int rank = 0; rank < launched.size(); rank++) {
            byte[] value = await(DEVICE + rank, rank);
            all.add(new String(value, StandardCharsets.UTF_8));
        }
        return all;
    }

    private byte[] await(String key, int rank) {
        long deadline = System.nanoTime()
                + TimeUnit.MILLISECONDS.toNanos(options.communication().startTimeoutMs());
        while (true) {
            Optional<byte[]> value = link.get(key);
            if (value.isPresent()) {
                return value.get();
            }
            stragglers.failure().ifPresent(failure -> {
                throw new CommunicationException(failure + "; rank " + launched.rank() + " needs it");
            });
            RankEnd end = link.ends().of(rank);
            if (end != null) {
                throw new CommunicationException(end.describe() + "; rank " + launched.rank() + " needs it to join");
            }
            if (System.nanoTime() > deadline) {
                throw new CommunicationException("rank " + rank + " of " + launched.size() + " has not joined within "
                        + options.communication().startTimeoutMs()
                        + " ms; HINT: check that all ranks were started, and read their output");
            }
            pause(POLL_MS);
        }
    }

    private void checkOwnDevices(List<String> devices) {
        for (int rank = 1; rank < devices.size(); rank++) {
            int other = devices.indexOf(devices.get(rank));
            if (other < rank) {
                throw new CommunicationException("ranks " + other + " and " + rank + " have the same device, "
                        + devices.get(rank) + "; HINT: give each rank its own by LOCAL_RANK or CUDA_VISIBLE_DEVICES;"
                        + " ranks started with mpirun can share a device");
            }
        }
    }

    private static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    /**
     * Leaves the job after this rank's program has returned: waits until those of all ranks have.
     *
     * @throws CommunicationException if one of them fails
     */
    void leave() {
        recorder.ledger().leave(Ledger.SETTLE_MS);
        if (session != null) {
            session.close();
        }
        Departure.returned(
                link, launched.rank(), launched.size(), options.communication().timeoutMs());
        end(LEAVE_MS);
    }

    /** Leaves the job after a failure: tells the other ranks and writes a flight record. Returns the exception to throw. */
    CommunicationException failed(Throwable reason) {
        Path record = over.get() ? null : writeFlightRecord(reason.toString());
        tell(RankEnd.Kind.FAILED, reason.toString());
        if (session != null) {
            session.abort(new CommunicationException("rank " + launched.rank() + " has failed: " + reason, reason));
        }
        end(TELL_MS);
        return new CommunicationException(
                "rank " + launched.rank() + " of " + launched.size() + " failed: " + reason.getMessage()
                        + (record == null ? "" : "; its last calls are in " + record),
                reason);
    }

    private void tell(RankEnd.Kind kind, String detail) {
        try {
            link.end(kind, detail, TELL_MS);
        } catch (CommunicationException e) {
            LOG.debug("rank {} cannot tell the other ranks: {}", launched.rank(), e.getMessage());
        }
        if (server != null) {
            server.awaitNoticesRead(TELL_MS);
        }
    }

    private void end(long departMs) {
        over.set(true);
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the process is already exiting
        }
        link.close();
        if (server != null) {
            server.awaitDepartures(departMs);
            server.close();
        }
    }

    private void endedFromOutside() {
        if (over.compareAndSet(false, true)) {
            String how = ProcessEnd.describe();
            writeFlightRecord("the process " + how);
            tell(RankEnd.Kind.EXITED, how);
        }
    }

    private @Nullable Path writeFlightRecord(String reason) {
        Path folder =
                options.communication().flightRecordFolder().orElse(Path.of(System.getProperty("java.io.tmpdir", ".")));
        try {
            return recorder.write(folder, reason);
        } catch (IOException e) {
            LOG.warn("no flight record in {}: {}", folder, e.toString());
            return null;
        }
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The rank's world. The launcher closes what it has opened. */
    private record EnvironmentWorld(ProcessGroup group, Backend backend, int localRank, int localSize)
            implements World {
        @Override
        public String launcher() {
            return "env";
        }

        @Override
        public void close() {}
    }
}
