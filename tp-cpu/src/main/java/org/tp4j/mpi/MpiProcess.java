package org.tp4j.mpi;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.GroupMember;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.internal.agreement.Ledger;
import org.tp4j.comm.internal.control.BoardAgreement;
import org.tp4j.comm.internal.control.ControlBoard;
import org.tp4j.comm.internal.control.ControlLink;
import org.tp4j.comm.internal.control.ControlSecret;
import org.tp4j.comm.internal.control.ControlServer;
import org.tp4j.comm.internal.control.Departure;
import org.tp4j.comm.internal.control.JobStragglers;
import org.tp4j.comm.internal.control.LocalRankWatch;
import org.tp4j.comm.internal.control.ProcessEnd;
import org.tp4j.comm.internal.control.RankEnd;
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
    private static final long TELL_MS = 2_000; // for the other ranks to learn how this one has ended
    private static final long LEAVE_MS = 10_000; // for the other ranks to learn that all have returned
    private static final long HEAR_MS = 600; // mpirun kills a process one second after it has ended it

    private final CommunicationOptions options;
    private final FlightRecorder recorder;
    private final MpiGroup world;
    private final MpiJob job;
    private final int localRank;
    private final int localSize;
    private final AtomicBoolean over = new AtomicBoolean();
    private @Nullable ControlServer server;
    private @Nullable ControlLink link;
    private @Nullable Stragglers stragglers;

    /**
     * Joins the other ranks.
     *
     * @throws org.tp4j.tensor.NativeLibraryException if there is no MPI library
     * @throws CommunicationException if the library does not see all ranks that were launched
     */
    MpiProcess(CommunicationOptions options) {
        this.options = options;
        String library = MpiLibrary.require();
        MpiRuntime.initialize(options);
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
        long handle = BlockingCall.run(
                "MPI_Comm_split of all ranks",
                options.startTimeoutMs(),
                () -> Optional.ofNullable(stragglers).flatMap(Stragglers::failure),
                () -> MpiNative.split(MpiNative.world(), 0, rank));
        this.world = new MpiGroup(new MpiComm(job, handle, rank, ranks), "world");
        MpiRuntime.watch(this);
        LOG.debug("rank {} of {} over {}", rank, size, library);
    }

    /** A temporary group, whose calls are not kept in the flight record. */
    private static MpiGroup startupGroup(CommunicationOptions options, int rank, List<Integer> ranks) {
        long handle = BlockingCall.run(
                "MPI_Comm_split of all ranks",
                options.startTimeoutMs(),
                Optional::empty,
                () -> MpiNative.split(MpiNative.world(), 0, rank));
        // Oversubscribed until it is known which ranks share this machine: that is only slower.
        CommunicationOptions patient = options.withTimeoutMs(options.startTimeoutMs());
        MpiJob job = new MpiJob(patient, new FlightRecorder(rank), true);
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
            InetAddress at = oneMachine
                    ? InetAddress.getLoopbackAddress()
                    : reachable(System.getenv().getOrDefault("MASTER_ADDR", hosts.get(0)));
            int port = Integer.parseInt(System.getenv().getOrDefault("MASTER_PORT", "0"));
            ControlServer started =
                    ControlServer.start(at, port, ControlSecret.of(secret), new ControlBoard(hosts.size()));
            server = started;
            address = at.getHostAddress() + " " + started.port() + " " + secret;
        }
        String[] parts = share(startup, address).get(0).split(" ", -1);
        ControlLink opened = ControlLink.connect(
                parts[0],
                Integer.parseInt(parts[1]),
                ControlSecret.of(parts[2]),
                recorder,
                ControlLink.periodMs(options.timeoutMs()),
                options.startTimeoutMs());
        link = opened;
        stragglers = new JobStragglers(opened, recorder.worldRank());
        job.setStragglers(stragglers);
        if (options.agreement()) {
            recorder.ledger().connect(BoardAgreement.over(opened));
        }
    }

    /** The address of a host, unless that is the loopback address, as some machines call their own name. */
    private static InetAddress reachable(String host) {
        try {
            InetAddress named = InetAddress.getByName(host);
            if (!named.isLoopbackAddress()) {
                return named;
            }
            return NetworkInterface.networkInterfaces()
                    .flatMap(NetworkInterface::inetAddresses)
                    .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
                    .findFirst()
                    .orElseThrow(() -> new UnknownHostException(host + " has no address that other machines reach"));
        } catch (UnknownHostException | SocketException e) {
            throw new CommunicationException(
                    "rank 0 cannot serve the control channel at '" + host + "': " + e.getMessage()
                            + "; HINT: set MASTER_ADDR to an address of rank 0's machine that the other machines reach",
                    e);
        }
    }

    MpiGroup world() {
        return world;
    }

    /** What an engine between devices needs to know about this rank. */
    GroupMember member(Backend backend) {
        ControlLink channel = link;
        Stragglers known = stragglers;
        return new GroupMember(
                world.rank(),
                world.size(),
                backend,
                channel == null ? new ControlBoard(1) : channel,
                known == null ? new JobStragglers(new LocalRankWatch(List.of(recorder)), 0) : known,
                recorder,
                options);
    }

    int localRank() {
        return localRank;
    }

    /** Compares the last of what this rank has done with the others. */
    void settle() {
        recorder.ledger().leave(Ledger.SETTLE_MS);
    }

    int localSize() {
        return localSize;
    }

    /**
     * Waits until everything this rank has started is complete and all ranks' programs have returned, and leaves. MPI itself is
     * finalized when the process exits.
     *
     * @throws CommunicationException if a rank fails
     */
    @Override
    public void close() {
        job.drain();
        if (link != null) {
            Departure.returned(link, world.rank(), world.size(), options.timeoutMs());
        }
        over.set(true);
        world.close();
        if (link != null) {
            link.close();
        }
        if (server != null) {
            server.awaitDepartures(LEAVE_MS);
            server.close();
        }
    }

    /**
     * Tells the other ranks and prints why, writes a flight record, and ends all ranks. Returns only if MPI cannot end the
     * process.
     */
    void abort(Throwable reason) {
        over.set(true);
        Path record = writeFlightRecord(reason.toString());
        tell(RankEnd.Kind.FAILED, reason.toString());
        print(
                "rank " + world.rank() + " of " + world.size() + " failed and ends the others"
                        + (record == null ? "" : "; its last calls are in " + record),
                reason);
        MpiNative.abort(1);
    }

    /** Tells the others how this rank ends, and gives them the time to hear it before they are ended themselves. */
    private void tell(RankEnd.Kind kind, String detail) {
        ControlLink channel = link;
        if (channel == null) {
            return;
        }
        try {
            channel.end(kind, detail, TELL_MS);
        } catch (CommunicationException e) {
            LOG.debug("rank {} cannot tell the other ranks: {}", world.rank(), e.getMessage());
            return;
        }
        if (server != null) {
            server.awaitNoticesRead(TELL_MS);
        } else {
            pause(2 * ControlLink.periodMs(options.timeoutMs()));
        }
    }

    /** Prints as an uncaught exception is printed; a logger may have no output. */
    private static void print(String message, @Nullable Throwable cause) {
        Thread current = Thread.currentThread();
        current.getUncaughtExceptionHandler().uncaughtException(current, new CommunicationException(message, cause));
    }

    /** Runs when the process exits, for whatever reason. */
    void shutDown() {
        if (over.compareAndSet(false, true)) {
            String how = ProcessEnd.describe();
            String first = firstFailure();
            writeFlightRecord("the process " + how + (first.isEmpty() ? "" : "; " + first));
            if (!first.isEmpty()) {
                print("rank " + world.rank() + " of " + world.size() + " " + how + "; " + first, null);
            }
            tell(RankEnd.Kind.EXITED, how);
            return; // peers wait for this rank, so MPI cannot be finalized: whoever started the job ends them
        }
        MpiNative.finish();
    }

    /** The rank that mpirun ends this one for, if it is known or becomes known soon; empty otherwise. */
    private String firstFailure() {
        ControlLink channel = link;
        Stragglers known = stragglers;
        if (channel == null || known == null) {
            return "";
        }
        long deadline = System.nanoTime() + HEAR_MS * 1_000_000;
        while (known.failure().isEmpty() && System.nanoTime() < deadline) {
            pause(10);
        }
        return known.failure().orElse("");
    }

    private static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private @Nullable Path writeFlightRecord(String reason) {
        Path folder = options.flightRecordFolder().orElse(Path.of(System.getProperty("java.io.tmpdir", ".")));
        try {
            return recorder.write(folder, reason);
        } catch (IOException e) {
            LOG.warn("no flight record in {}: {}", folder, e.toString());
            return null;
        }
    }
}
