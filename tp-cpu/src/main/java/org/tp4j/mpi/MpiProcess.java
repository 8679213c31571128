package org.tp4j.mpi;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.internal.control.ControlClient;
import org.tp4j.comm.internal.control.ControlSecret;
import org.tp4j.comm.internal.control.ControlServer;
import org.tp4j.comm.internal.control.Heartbeat;
import org.tp4j.comm.internal.control.LocalKeyValueStore;
import org.tp4j.comm.internal.control.RecordedStragglers;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.Backend;

/**
 * Starts and ends this process's part of an MPI job: opens the library, joins the other ranks, opens the control channel
 * between them, and makes sure that a crash leaves a flight record.
 */
final class MpiProcess implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MpiProcess.class);
    private static final int TEXT_BYTES = 256;
    private static final long CONNECT_MS = 60_000;
    private static final long LONGEST_BEAT_MS = 1_000;

    private final CommunicationOptions options;
    private final FlightRecorder recorder;
    private final MpiGroup world;
    private final MpiJob job;
    private final int localRank;
    private final int localSize;
    private final AtomicBoolean over = new AtomicBoolean();
    private @Nullable ControlServer server;
    private @Nullable ControlClient client;
    private @Nullable Heartbeat heartbeat;

    /**
     * Joins the other ranks.
     *
     * @throws org.tp4j.tensor.NativeLibraryException if there is no MPI library
     * @throws CommunicationException if the library does not see all ranks that were launched
     */
    MpiProcess(CommunicationOptions options) {
        this.options = options;
        String library = MpiLibrary.require();
        MpiNative.initialize();
        int rank = MpiNative.rank(MpiNative.world());
        int size = MpiNative.size(MpiNative.world());
        checkLaunched(library, size);
        this.recorder = new FlightRecorder(rank);
        List<Integer> ranks = new ArrayList<>();
        for (int r = 0; r < size; r++) {
            ranks.add(r);
        }
        MpiGroup startup = startupGroup(options, rank, ranks);
        List<String> hosts = share(startup, hostName());
        String mine = hosts.get(rank);
        this.localRank =
                (int) hosts.subList(0, rank).stream().filter(mine::equals).count();
        this.localSize = (int) hosts.stream().filter(mine::equals).count();
        this.job =
                new MpiJob(options, recorder, localSize > Runtime.getRuntime().availableProcessors());
        if (size > 1) {
            openControl(startup, hosts);
        }
        startup.close();
        long handle = MpiNative.split(MpiNative.world(), 0, rank);
        this.world = new MpiGroup(new MpiComm(job, handle, rank, ranks), "world");
        ExitHook.watch(this);
        LOG.debug("rank {} of {} over {}", rank, size, library);
    }

    /** A temporary group, whose calls are not kept in the flight record. */
    private static MpiGroup startupGroup(CommunicationOptions options, int rank, List<Integer> ranks) {
        long handle = MpiNative.split(MpiNative.world(), 0, rank);
        // Oversubscribed until it is known which ranks share this machine: that is only slower.
        MpiJob job = new MpiJob(options, new FlightRecorder(rank), true);
        return new MpiGroup(new MpiComm(job, handle, rank, ranks), "start");
    }

    /** All ranks' texts, in rank order; every rank calls it. */
    List<String> share(String text) {
        MpiGroup startup = startupGroup(options, world.rank(), world.worldRanks());
        try {
            return share(startup, text);
        } finally {
            startup.close();
        }
    }

    private static void checkLaunched(String library, int size) {
        Optional<LaunchEnvironment> launched = LaunchEnvironment.read(System.getenv());
        if (launched.isPresent() && launched.get().isMpi() && launched.get().size() != size) {
            throw new CommunicationException("this process was started by "
                    + launched.get().starter() + " as rank "
                    + launched.get().rank() + " of " + launched.get().size() + ", but " + library + " sees " + size
                    + (size == 1 ? " rank" : " ranks") + "; HINT: name the library that belongs to this mpirun with"
                    + " -Dtp4j.mpi.library=/path/to/libmpi.so");
        }
    }

    /** Name of this machine. */
    static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    /** All ranks' texts, in rank order. */
    private static List<String> share(MpiGroup group, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > TEXT_BYTES) {
            throw new CommunicationException(
                    "'" + text + "' is " + bytes.length + " bytes long; ranks can share at most " + TEXT_BYTES);
        }
        List<String> all = new ArrayList<>();
        for (byte[] each : group.gatherBytes(Arrays.copyOf(bytes, TEXT_BYTES))) {
            all.add(new String(each, StandardCharsets.UTF_8).replace("\0", ""));
        }
        return all;
    }

    /** Rank 0 serves the control channel, and sends its address and secret to the other ranks over MPI. */
    private void openControl(MpiGroup startup, List<String> hosts) {
        boolean oneMachine = hosts.stream().distinct().count() == 1;
        String address = "";
        if (recorder.worldRank() == 0) {
            String secret = ControlSecret.random();
            String host = oneMachine ? "127.0.0.1" : System.getenv().getOrDefault("MASTER_ADDR", hosts.get(0));
            int port = Integer.parseInt(System.getenv().getOrDefault("MASTER_PORT", "0"));
            server = ControlServer.start(listenAddress(oneMachine), port, ControlSecret.of(secret));
            address = host + " " + server.port() + " " + secret;
        }
        String[] parts = share(startup, address).get(0).split(" ", -1);
        client = ControlClient.connect(parts[0], Integer.parseInt(parts[1]), ControlSecret.of(parts[2]), CONNECT_MS);
        long beatMs = Math.max(50, Math.min(LONGEST_BEAT_MS, options.timeoutMs() / 8));
        heartbeat = new Heartbeat(client, recorder, beatMs);
        job.setHeartbeat(heartbeat);
    }

    private static InetAddress listenAddress(boolean oneMachine) {
        try {
            return InetAddress.getByName(oneMachine ? "127.0.0.1" : "0.0.0.0");
        } catch (UnknownHostException e) {
            throw new IllegalStateException(e); // a numeric address needs no look-up
        }
    }

    MpiGroup world() {
        return world;
    }

    /** What an engine between devices needs to know about this rank. */
    GroupMember member(Backend backend) {
        ControlClient channel = client;
        Heartbeat beat = heartbeat;
        return new GroupMember(
                world.rank(),
                world.size(),
                backend,
                channel == null ? new LocalKeyValueStore() : channel,
                beat == null ? new RecordedStragglers(List.of(recorder), 0, Optional::empty) : beat,
                recorder,
                options);
    }

    int localRank() {
        return localRank;
    }

    int localSize() {
        return localSize;
    }

    /** Waits until everything this rank has started is complete, and leaves. MPI itself is finalized when the process exits. */
    @Override
    public void close() {
        job.drain();
        world.close();
        over.set(true);
        if (heartbeat != null) {
            heartbeat.close();
        }
        if (client != null) {
            client.close();
        }
    }

    /**
     * Prints why, writes a flight record, and ends all ranks. Returns only if MPI cannot end the process.
     */
    void abort(Throwable reason) {
        over.set(true);
        Path record = writeFlightRecord(reason);
        CommunicationException report = new CommunicationException(
                "rank " + world.rank() + " of " + world.size() + " failed and ends the others"
                        + (record == null ? "" : "; its last calls are in " + record),
                reason);
        // Printed as an uncaught exception is; a logger may have no output.
        Thread current = Thread.currentThread();
        current.getUncaughtExceptionHandler().uncaughtException(current, report);
        MpiNative.abort(1);
    }

    /** The only shutdown hook of this JVM, which may run several programs as the same rank, one after the other. */
    private static final class ExitHook {
        private static final AtomicReference<@Nullable MpiProcess> LATEST = new AtomicReference<>();

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(ExitHook::run, "tp4j-mpi-end"));
        }

        private static void run() {
            MpiProcess latest = LATEST.get();
            if (latest != null) {
                latest.shutDown();
            }
        }

        static void watch(MpiProcess process) {
            LATEST.set(process);
        }
    }

    /** Runs when the process exits, for whatever reason. */
    private void shutDown() {
        if (over.compareAndSet(false, true)) {
            writeFlightRecord(null);
            return; // peers wait for this rank, so MPI cannot be finalized: whoever started the job ends them
        }
        MpiNative.finish();
        if (server != null) {
            server.close();
        }
    }

    private @Nullable Path writeFlightRecord(@Nullable Throwable reason) {
        Path folder = options.flightRecordFolder().orElse(Path.of(System.getProperty("java.io.tmpdir", ".")));
        try {
            return recorder.write(folder, reason == null ? "the process was ended from outside" : reason.toString());
        } catch (IOException e) {
            LOG.warn("no flight record in {}: {}", folder, e.toString());
            return null;
        }
    }
}
