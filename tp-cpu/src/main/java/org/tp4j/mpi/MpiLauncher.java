package org.tp4j.mpi;

import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.comm.launch.Launcher;
import org.tp4j.comm.launch.RankMain;
import org.tp4j.cpu.CpuBackend;

/**
 * The launcher {@code mpi}: this process is one rank of those that {@code mpirun} has started.
 *
 * <p>A rank that throws prints the exception, leaves its last calls in a file and ends all ranks. Matrix products use
 * cores / ranks on the machine threads, at least one.
 */
public final class MpiLauncher implements Launcher {
    /** For {@link java.util.ServiceLoader}. */
    public MpiLauncher() {}

    @Override
    public String name() {
        return "mpi";
    }

    @Override
    public boolean serves(String deviceType) {
        return true; // an engine between the devices if there is one, else messages through the host's memory
    }

    @Override
    public Optional<String> unavailable() {
        return MpiLibrary.unavailable();
    }

    @Override
    public boolean launched(Map<String, String> environment) {
        // One task of Slurm's needs no MPI; one rank of an mpirun asked for it.
        return LaunchEnvironment.read(environment)
                .filter(launched -> launched.isMpi()
                        && (launched.size() > 1 || !launched.starter().equals("slurm")))
                .isPresent();
    }

    @Override
    public void run(LaunchOptions options, RankMain main) {
        MpiProcess process = new MpiProcess(options.communication());
        int size = process.world().size();
        if (options.ranks() > 0 && options.ranks() != size) {
            process.close();
            throw new CommunicationException("asked for " + options.ranks() + " ranks, but mpirun has started " + size
                    + "; HINT: mpirun -np " + options.ranks() + " ...");
        }
        CpuBackend.get().setBlasThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / process.localSize()));
        MpiWorld place = null;
        try {
            place = new MpiWorld(process, options);
            main.run(place);
            place.leave();
        } catch (Throwable t) {
            if (size > 1) {
                process.abort(t);
            }
            if (place != null) {
                place.abort(t);
            }
            throw new CommunicationException("the rank failed: " + t.getMessage(), t);
        }
        process.close();
    }
}
