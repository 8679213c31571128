package org.tp4j.examples.mlp;

import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.tensor.DType;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of the command, and what is wrong with them. */
final class MlpArguments {
    private static final int DEFAULT_RANKS = 2;
    private static final int MOST_THREADS = 256;

    /** Where ranks run. */
    enum LauncherName {
        threads,
        mpi
    }

    /** What ranks compute on. */
    enum DeviceName {
        cpu,
        cuda
    }

    /** Types by their short names. */
    enum TypeName {
        fp32(DType.FLOAT32),
        bf16(DType.BFLOAT16);

        private final DType dtype;

        TypeName(DType dtype) {
            this.dtype = dtype;
        }
    }

    @Option(
            names = "--ranks",
            paramLabel = "N",
            description = "Number of ranks, 2 unless given; under mpirun as many as it started.")
    private @Nullable Integer ranks;

    @Option(
            names = "--launcher",
            paramLabel = "threads|mpi",
            description = "Ranks as threads of one JVM (the default) or as processes under MPI.")
    private @Nullable LauncherName launcher;

    @Option(
            names = "--device",
            paramLabel = "cpu|cuda",
            defaultValue = "cpu",
            description = "What ranks compute on: ${DEFAULT-VALUE} unless given.")
    DeviceName device = DeviceName.cpu;

    @Option(
            names = "--simulate",
            description =
                    "With --device cuda: on devices simulated on the host. For trying and testing, never for speed.")
    boolean simulate;

    @Option(
            names = "--dtype",
            paramLabel = "fp32|bf16",
            defaultValue = "fp32",
            description = "Type of parameters and activations: ${DEFAULT-VALUE} unless given.")
    private TypeName dtype = TypeName.fp32;

    @Option(
            names = "--epochs",
            paramLabel = "N",
            defaultValue = "15",
            description = "Passes over the training images: ${DEFAULT-VALUE} unless given.")
    private int epochs;

    @Option(
            names = "--batch",
            paramLabel = "N",
            defaultValue = "64",
            description = "Images a step: ${DEFAULT-VALUE} unless given.")
    private int batch;

    @Option(
            names = "--hidden",
            paramLabel = "N",
            defaultValue = "256",
            description =
                    "Hidden features of a block, which the ranks share; any number: ${DEFAULT-VALUE} unless given.")
    private int hidden;

    @Option(
            names = "--learning-rate",
            paramLabel = "X",
            defaultValue = "0.003",
            description = "Learning rate at its peak: ${DEFAULT-VALUE} unless given.")
    private double learningRate;

    @Option(
            names = "--dropout",
            paramLabel = "P",
            defaultValue = "0.1",
            description = "Probability with which a hidden value is dropped: ${DEFAULT-VALUE} unless given.")
    private double dropout;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "42",
            description = "Of initial weights, dropout and the order of images: ${DEFAULT-VALUE} unless given.")
    private long seed;

    @Option(
            names = "--check",
            description =
                    "Train once more on one rank, print the largest differences, fail if they exceed their bounds.")
    boolean check;

    @Option(
            names = "--report",
            paramLabel = "FILE.html",
            description = "Write a page: curves, which rank holds what, all communication.")
    @Nullable Path report;

    @Option(names = "--metrics", paramLabel = "FILE.json", description = "Write accuracy, losses, speed as JSON.")
    @Nullable Path metrics;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    /** What is to be trained. */
    MlpSettings settings(int trainImages) {
        require(epochs >= 1, "--epochs", epochs, "at least 1");
        require(batch >= 1 && batch <= trainImages, "--batch", batch, "between 1 and " + trainImages + ", the images");
        require(hidden >= 1, "--hidden", hidden, "at least 1");
        require(learningRate > 0 && learningRate <= 1, "--learning-rate", learningRate, "above 0 and at most 1");
        require(dropout >= 0 && dropout < 1, "--dropout", dropout, "at least 0 and below 1");
        return new MlpSettings(hidden, epochs, batch, learningRate, dropout, seed, dtype.dtype);
    }

    /**
     * How ranks are to be started.
     *
     * @param launched what mpirun has said about this process, if it has
     */
    LaunchOptions launchOptions(Optional<LaunchEnvironment> launched) {
        if (simulate && device != DeviceName.cuda) {
            throw wrong("--simulate with --device " + device + "; HINT: simulated devices are --device cuda");
        }
        LaunchOptions options = LaunchOptions.defaults().withDeviceType(device.name());
        if (launched.isPresent()) {
            int size = launched.get().size();
            if (launcher == LauncherName.threads) {
                throw wrong("--launcher threads, but this is process "
                        + launched.get().rank() + " of " + size
                        + " started by " + launched.get().starter()
                        + "; HINT: leave --launcher out, or start it without mpirun");
            }
            if (ranks != null && ranks != size) {
                throw wrong("--ranks is " + ranks + ", but " + size
                        + " processes were started; HINT: leave --ranks out, or" + " mpirun -np " + ranks);
            }
            return options.withRanks(size);
        }
        int wanted = ranks == null ? DEFAULT_RANKS : ranks;
        require(wanted >= 1, "--ranks", wanted, "at least 1");
        if (launcher == LauncherName.mpi) {
            if (wanted > 1) {
                throw wrong("--launcher mpi needs " + wanted + " processes, and this is one alone; HINT: start it by"
                        + " scripts/run-mlp.sh, or by mpirun -np " + wanted);
            }
            return options.withLauncher(LauncherName.mpi.name()).withRanks(1);
        }
        require(wanted <= MOST_THREADS, "--ranks", wanted, "at most " + MOST_THREADS + " as threads of one JVM");
        return launcher == null
                ? options.withRanks(wanted)
                : options.withLauncher(launcher.name()).withRanks(wanted);
    }

    private void require(boolean holds, String option, Object value, String allowed) {
        if (!holds) {
            throw wrong(option + " is " + value + "; it must be " + allowed);
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
