package org.tp4j.comm.launch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.CommunicationException;
import org.tp4j.tensor.internal.services.Services;

/**
 * Runs a program as one or more ranks, however they are started.
 *
 * <pre>{@code
 * public static void main(String[] args) {
 *     Launch.run(LaunchOptions.defaults(), world -> {
 *         ... the program of each rank ...
 *     });
 * }
 * }</pre>
 *
 * <p>Started by {@code mpirun -np 4}, each of the four processes runs it as one rank; started without mpirun, it runs as
 * {@link LaunchOptions#ranks()} threads. Ranks on GPUs can also be started by torchrun or srun, without MPI.
 */
public final class Launch {
    private static final String THREADS = "threads";
    private static final String MPI = "mpi";

    /** The classes of this project's own launchers, for messages. */
    private static final Map<String, String> KNOWN = Map.of(
            THREADS,
            "org.tp4j.threads.ThreadLauncher",
            MPI,
            "org.tp4j.mpi.MpiLauncher",
            "env",
            "org.tp4j.comm.launch.EnvironmentLauncher");

    private Launch() {}

    /**
     * Runs {@code main} as every rank (threads), or as the rank this process is; returns when it has finished.
     *
     * @throws CommunicationException if the launcher is not on the class path or cannot be used here
     */
    public static void run(LaunchOptions options, RankMain main) {
        choose(options, System.getenv()).run(options, main);
    }

    /** Each launcher on the class path, and why it cannot be used here; an empty string if it can. */
    public static Map<String, String> availability() {
        Map<String, String> result = new LinkedHashMap<>();
        for (Launcher launcher : Services.load(Launcher.class)) {
            result.put(launcher.name(), launcher.unavailable().orElse(""));
        }
        return result;
    }

    /** A process that was started as one of several ranks must never run as if it were alone. */
    private static void refuseLostRank(LaunchOptions options, Map<String, String> environment, List<String> names) {
        Optional<LaunchEnvironment> launched = LaunchEnvironment.read(environment);
        if (launched.isPresent() && launched.get().size() > 1) {
            throw new CommunicationException("this process was started by "
                    + launched.get().starter() + " as rank "
                    + launched.get().rank() + " of " + launched.get().size() + ", and none of the launchers " + names
                    + " joins such ranks on device type '" + options.deviceType()
                    + "'; HINT: start it with mpirun, or choose the launcher threads");
        }
    }

    /** The first usable launcher that joins ranks started this way; MPI's comes first. */
    private static Optional<Launcher> joining(List<Launcher> serving, Map<String, String> environment) {
        List<Launcher> joining = serving.stream()
                .filter(launcher -> launcher.launched(environment))
                .sorted(Comparator.comparing(launcher -> !launcher.name().equals(MPI)))
                .toList();
        return joining.stream()
                .filter(launcher -> launcher.unavailable().isEmpty())
                .findFirst()
                .or(() -> joining.stream().findFirst());
    }

    static Launcher choose(LaunchOptions options, Map<String, String> environment) {
        List<Launcher> serving = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Launcher launcher : Services.load(Launcher.class)) {
            names.add(launcher.name());
            if (launcher.serves(options.deviceType())) {
                serving.add(launcher);
            }
        }
        String wanted = options.launcher();
        if (wanted.equals(LaunchOptions.AUTO)) {
            Optional<Launcher> joining = joining(serving, environment);
            if (joining.isPresent()) {
                return joining.get();
            }
            refuseLostRank(options, environment, names);
            wanted = THREADS;
        }
        for (Launcher launcher : serving) {
            if (launcher.name().equals(wanted)) {
                return launcher;
            }
        }
        throw new CommunicationException("no launcher '" + wanted + "' for device type '" + options.deviceType()
                + "' on the class path, which has " + names
                + Services.explain(
                        Launcher.class,
                        names.contains(wanted) ? null : KNOWN.get(wanted),
                        "threads and mpi are in org.tp4j:tp-cpu; env is in tp-core and needs an engine such as"
                                + " tp-nccl"));
    }
}
