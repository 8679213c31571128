package org.tp4j.comm.launch;

import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.internal.control.ControlSecret;
import org.tp4j.tensor.OutOfMemoryException;
import org.tp4j.tensor.internal.services.Services;

/**
 * The launcher {@code env}: this process is one rank of a job started by {@code torchrun}, Slurm's {@code srun} or a script,
 * without MPI. It finds the other ranks by the environment variables {@code RANK}, {@code WORLD_SIZE}, {@code LOCAL_RANK},
 * {@code MASTER_ADDR} and {@code MASTER_PORT}, or Slurm's own, and joins them over the device type's {@link GroupEngine}.
 * Rank 0 serves the control channel at that address, and at no other of its machine. {@code TP4J_SECRET}, or the file that
 * {@code TP4J_SECRET_FILE} names, holds its secret, see {@link ControlSecret}; only on the loopback address it may be missing.
 *
 * <p>A rank uses the device numbered {@code LOCAL_RANK}, or the only one it sees. A rank that throws writes its last calls to
 * a file, and ends the other ranks. A rank whose program has returned waits until all others' have; if one of them fails, it
 * throws too.
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
        for (GroupEngine engine : Services.load(GroupEngine.class)) {
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
                        () -> new CommunicationException("launcher env was requested, but no environment variables say"
                                + " which rank this process is; HINT: set RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and"
                                + " MASTER_PORT, as torchrun and srun do"));
        if (options.ranks() > 0 && options.ranks() != launched.size()) {
            throw new CommunicationException(options.ranks() + " ranks were requested, but " + launched.starter()
                    + " has started " + launched.size() + "; HINT: leave the number of ranks to " + launched.starter());
        }
        EnvironmentRank rank = new EnvironmentRank(launched, options);
        try {
            main.run(rank.join());
            rank.leave();
        } catch (OutOfMemoryError e) {
            throw rank.failed(OutOfMemoryException.ofHost(e));
        } catch (Throwable t) {
            throw rank.failed(t);
        }
    }
}
