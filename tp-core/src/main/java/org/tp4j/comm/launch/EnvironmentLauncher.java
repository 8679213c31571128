package org.tp4j.comm.launch;

import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.internal.control.ControlSecret;

/**
 * The launcher {@code env}: this process is one rank of those that {@code torchrun}, Slurm's {@code srun} or a script has
 * started, without MPI. It finds the others by environment variables, {@code RANK}, {@code WORLD_SIZE}, {@code LOCAL_RANK},
 * {@code MASTER_ADDR} and {@code MASTER_PORT}, or Slurm's own, and joins them by the device type's {@link GroupEngine}. Rank
 * 0 serves the control channel at that address; {@code TP4J_SECRET} is its secret, see {@link ControlSecret}. Without it the
 * secret follows from these variables, which keeps jobs apart that meet by mistake, but not people who know them.
 *
 * <p>A rank computes on the device of its {@code LOCAL_RANK}, or on the only one it sees. A rank that throws leaves its last
 * calls in a file, and ends the others.
 */
public final class EnvironmentLauncher implements Launcher {
    /** For {@link java.util.ServiceLoader}. */
    public EnvironmentLauncher() {}

    @Override
    public String name() {
        return "env";
    }

    @Override
    public boolean serves(String deviceType) {
        for (GroupEngine engine : ServiceLoader.load(GroupEngine.class)) {
            if (engine.deviceType().equals(deviceType)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public Optional<String> unavailable() {
        return Optional.empty();
    }

    @Override
    public boolean launched(Map<String, String> environment) {
        return LaunchEnvironment.read(environment)
                .filter(launched -> launched.size() > 1
                        && (launched.starter().equals("torchrun")
                                || launched.starter().equals("slurm")))
                .isPresent();
    }

    @Override
    public void run(LaunchOptions options, RankMain main) {
        LaunchEnvironment launched = LaunchEnvironment.read(System.getenv())
                .orElseThrow(
                        () -> new CommunicationException("launcher env was asked for, but no environment variables say"
                                + " which rank this process is; HINT: RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT do,"
                                + " torchrun and srun set them"));
        if (options.ranks() > 0 && options.ranks() != launched.size()) {
            throw new CommunicationException("asked for " + options.ranks() + " ranks, but " + launched.starter()
                    + " has started " + launched.size());
        }
        EnvironmentRank rank = new EnvironmentRank(launched, options);
        try {
            main.run(rank.join());
            rank.leave();
        } catch (Throwable t) {
            throw rank.failed(t);
        }
    }
}
