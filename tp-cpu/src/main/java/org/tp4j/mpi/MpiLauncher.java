package org.tp4j.mpi;

import java.util.Map;
import java.util.Optional;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.comm.launch.Launcher;
import org.tp4j.comm.launch.RankMain;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.tensor.OutOfMemoryException;

/**
 * The launcher {@code mpi}: this process is one rank of a job started by {@code mpirun}.
 *
 * <p>A rank that throws prints the exception, writes its last calls to a file and ends all ranks. Matrix products use as many
 * threads as there are cores per rank on the machine, at least one.
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
        return true; // over an engine between the devices if there is one, otherwise through host memory
    }

    @Override
    public Optional<String> unavailable() {
        return MpiLibrary.unavailable();
    }

    @Override
    public boolean launched(Map<String, String> environment) {
        // A single Slurm task needs no MPI; a single rank under mpirun was started for it.
        return LaunchEnvironment.read(environment)
                .filter(launched -> launched.isMpi()
                        && (launched.size() > 1 || !launched.starter().equals("slurm")))
                .isPresent();
    }

    @Override
    public void run(LaunchOptions options, RankMain main) {
        MpiRuntime.enter();
        try {
            run(new MpiProcess(options.communication()), options, main);
        } finally {
            MpiRuntime.leave();
        }
    }

    private static void run(MpiProcess process, LaunchOptions options, RankMain main) {
        int size = process.world().size();
        if (options.ranks() > 0 && options.ranks() != size) {
            process.close();
            throw new CommunicationException(options.ranks() + " ranks were requested, but mpirun has started " + size
                    + "; HINT: mpirun -np " + options.ranks() + " ...");
        }
        CpuBackend.get().setBlasThreads(Math.max(1, Runtime.getRuntime().availableProcessors() / process.localSize()));
        MpiWorld world = null;
        try {
            world = new MpiWorld(process, options);
            main.run(world);
            process.settle();
            world.leave();
            process.close();
        } catch (Throwable thrown) {
            Throwable t = thrown instanceof OutOfMemoryError error ? OutOfMemoryException.ofHost(error) : thrown;
            if (size > 1) {
                process.abort(t);
            }
            if (world != null) {
                world.abort(t);
            }
            throw new CommunicationException("the rank failed: " + t.getMessage(), t);
        }
    }
}
