package org.tp4j.tests.run;

import java.util.List;
import java.util.Optional;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.cuda.CudaLibraries;
import org.tp4j.tensor.TpException;
import picocli.CommandLine.Option;

/** The options that say which ranks run: {@code --ranks 1,2,3,4 --launcher threads|mpi --device cpu|cuda}. */
public final class RankOptions {
    @Option(
            names = "--ranks",
            split = ",",
            paramLabel = "N",
            description =
                    "Numbers of ranks, separated by commas (default: 1,2,3,4; under mpirun, as many as it started).")
    private List<Integer> ranks = List.of();

    @Option(
            names = "--launcher",
            paramLabel = "NAME",
            description = "threads or mpi (default: threads, unless mpirun started this process).")
    private String launcher = LaunchOptions.AUTO;

    @Option(names = "--device", paramLabel = "TYPE", description = "cpu or cuda (default: cpu).")
    private String device = "cpu";

    @Option(
            names = "--simulate",
            description = "With --device cuda: on devices simulated on the host; the script prepares them.")
    private boolean simulate;

    /** Options with these values, as if they had been typed. */
    public static RankOptions of(String launcher, String device, Integer... ranks) {
        RankOptions options = new RankOptions();
        options.launcher = launcher;
        options.device = device;
        options.ranks = List.of(ranks);
        return options;
    }

    /** Whether ranks are processes, of which this is one. */
    public boolean areProcesses() {
        return !launcher.equals("threads") && launched().isPresent();
    }

    private static Optional<LaunchEnvironment> launched() {
        return LaunchEnvironment.read(System.getenv()).filter(LaunchEnvironment::isMpi);
    }

    /** Whether this process prints the report. */
    public boolean reports() {
        return !areProcesses() || launched().orElseThrow().rank() == 0;
    }

    /**
     * The numbers of ranks to run with.
     *
     * @throws IllegalArgumentException if a number is below 1, or was not started
     */
    public List<Integer> counts() {
        for (int n : ranks) {
            if (n < 1) {
                throw new IllegalArgumentException("--ranks asks for " + n + " ranks; HINT: numbers from 1 on");
            }
        }
        if (!areProcesses()) {
            return ranks.isEmpty() ? List.of(1, 2, 3, 4) : List.copyOf(ranks);
        }
        int size = launched().orElseThrow().size();
        if (!ranks.isEmpty() && !ranks.equals(List.of(size))) {
            throw new IllegalArgumentException("--ranks asks for " + ranks + ", but " + size
                    + " processes were started; HINT: leave --ranks out, or start the script without mpirun");
        }
        return List.of(size);
    }

    /**
     * Checks that ranks can be had at all, before any job is blamed for it.
     *
     * @throws IllegalArgumentException if the launcher is unknown, needs mpirun, or has no such device here
     */
    public void check() {
        if (simulate && !device.equals("cuda")) {
            throw new IllegalArgumentException(
                    "--simulate with --device " + device + "; HINT: simulated devices are --device cuda");
        }
        if (simulate && System.getProperty(CudaLibraries.SIMULATOR, "").isEmpty()) {
            throw new IllegalArgumentException(
                    "--simulate, but no simulator is set; HINT: start the script, which builds it," + " or set -D"
                            + CudaLibraries.SIMULATOR + "=/path/to/tp-tests/target/cudasim");
        }
        if (launcher.equals("mpi") && !areProcesses()) {
            throw new IllegalArgumentException(
                    "--launcher mpi, but mpirun did not start this process; HINT: the script does it");
        }
        if (!areProcesses()) {
            try {
                Launch.run(launch(1), world -> {});
            } catch (TpException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
        }
    }

    /** The launch of {@code n} ranks. */
    public LaunchOptions launch(int n) {
        return new LaunchOptions(launcher, n, device, CommunicationOptions.fromSystem());
    }
}
