package org.tp4j.examples.cli.mlp;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.tensor.DType;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of the command and their validation. */
final class MlpArguments {
    private static final int DEFAULT_RANKS = 2;
    private static final int MAX_THREADS = 256;

    /** How ranks are started. */
    enum LauncherName {
        threads,
        mpi
    }

    /** The device type ranks compute on. */
    enum DeviceName {
        cpu,
        cuda
    }

    /** Types by their names on the command line and in the metrics. */
    enum TypeName {
        fp32(DType.FLOAT32),
        bf16(DType.BFLOAT16);

        private final DType dtype;

        TypeName(DType dtype) {
            this.dtype = dtype;
        }

        /** The name of a type. */
        static TypeName of(DType dtype) {
            return dtype == DType.FLOAT32 ? fp32 : bf16;
        }
    }

    @Option(
            names = "--ranks",
            paramLabel = "N",
            description = "Number of ranks (default: 2; under mpirun: the number of processes).")
    private @Nullable Integer ranks;

    @Option(
            names = "--launcher",
            paramLabel = "threads|mpi",
            description = "Run ranks as threads of one JVM (default) or as processes under MPI.")
    private @Nullable LauncherName launcher;

    @Option(
            names = "--device",
            paramLabel = "cpu|cuda",
            defaultValue = "cpu",
            description = "Device type to compute on (default: ${DEFAULT-VALUE}).")
    DeviceName device = DeviceName.cpu;

    @Option(
            names = "--simulate",
            description = "With --device cuda: use devices simulated on the host, for testing. Timings mean nothing.")
    boolean simulate;

    @Option(
            names = "--dtype",
            paramLabel = "fp32|bf16",
            defaultValue = "fp32",
            description = "Type of parameters and activations (default: ${DEFAULT-VALUE}).")
    private TypeName dtype = TypeName.fp32;

    @Option(
            names = "--epochs",
            paramLabel = "N",
            defaultValue = "15",
            description = "Passes over the training images (default: ${DEFAULT-VALUE}).")
    private int epochs;

    @Option(
            names = "--batch",
            paramLabel = "N",
            defaultValue = "64",
            description = "Images per step (default: ${DEFAULT-VALUE}).")
    private int batch;

    @Option(
            names = "--hidden",
            paramLabel = "N",
            defaultValue = "256",
            description = "Hidden features per block, sharded over the ranks; any number (default: ${DEFAULT-VALUE}).")
    private int hidden;

    @Option(
            names = "--learning-rate",
            paramLabel = "X",
            defaultValue = "0.003",
            description = "Peak learning rate (default: ${DEFAULT-VALUE}).")
    private double learningRate;

    @Option(
            names = "--dropout",
            paramLabel = "P",
            defaultValue = "0.1",
            description = "Probability of dropping a hidden value (default: ${DEFAULT-VALUE}).")
    private double dropout;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "42",
            description = "Seed of initial weights, dropout and image order (default: ${DEFAULT-VALUE}).")
    private long seed;

    @Option(
            names = "--check",
            description = "Train again on one rank, print the largest differences, fail if they exceed their bounds.")
    boolean check;

    @Option(
            names = "--report",
            paramLabel = "FILE.html",
            description = "Write an HTML report: curves, shards, communication.")
    @Nullable Path report;

    @Option(names = "--metrics", paramLabel = "FILE.json", description = "Write accuracy, losses and speed as JSON.")
    @Nullable Path metrics;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** The hyperparameters, validated. */
    MlpSettings settings(int trainImages) {
        require(epochs >= 1, "--epochs", epochs, "at least 1");
        require(
                batch >= 1 && batch <= trainImages,
                "--batch",
                batch,
                "between 1 and " + trainImages + ", the number of images");
        require(hidden >= 1, "--hidden", hidden, "at least 1");
        require(learningRate > 0 && learningRate <= 1, "--learning-rate", learningRate, "above 0 and at most 1");
        require(dropout >= 0 && dropout < 1, "--dropout", dropout, "at least 0 and below 1");
        return new MlpSettings(hidden, epochs, batch, learningRate, dropout, seed, dtype.dtype);
    }

    /**
     * The launch options, validated.
     *
     * @param launched the environment set by mpirun, if it started this process
     */
    LaunchOptions launchOptions(Optional<LaunchEnvironment> launched) {
        if (simulate && device != DeviceName.cuda) {
            throw invalid("--simulate with --device " + device + "; HINT: simulated devices are --device cuda");
        }
        LaunchOptions options = LaunchOptions.defaults().withDeviceType(device.name());
        if (launched.isPresent()) {
            int size = launched.get().size();
            if (launcher == LauncherName.threads) {
                throw invalid("--launcher threads, but this is process "
                        + launched.get().rank() + " of " + size
                        + " started by " + launched.get().starter()
                        + "; HINT: leave --launcher out, or start it without mpirun");
            }
            if (ranks != null && ranks != size) {
                throw invalid("--ranks is " + ranks + ", but " + size
                        + " processes were started; HINT: leave --ranks out, or use mpirun -np " + ranks);
            }
            return options.withRanks(size);
        }
        int count = ranks == null ? DEFAULT_RANKS : ranks;
        require(count >= 1, "--ranks", count, "at least 1");
        if (launcher == LauncherName.mpi) {
            if (count > 1) {
                throw invalid(
                        "--launcher mpi needs " + count + " processes, and this is a single one; HINT: start it with"
                                + " scripts/run-mlp.sh, or with mpirun -np " + count);
            }
            return options.withLauncher(LauncherName.mpi.name()).withRanks(1);
        }
        require(count <= MAX_THREADS, "--ranks", count, "at most " + MAX_THREADS + " as threads of one JVM");
        return launcher == null
                ? options.withRanks(count)
                : options.withLauncher(launcher.name()).withRanks(count);
    }

    private void require(boolean holds, String option, Object value, String allowed) {
        if (!holds) {
            throw invalid(option + " is " + value + "; it must be " + allowed);
        }
    }

    private ParameterException invalid(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
