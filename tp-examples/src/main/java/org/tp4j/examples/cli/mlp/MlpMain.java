package org.tp4j.examples.cli.mlp;

import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.examples.cli.CommandRunner;
import org.tp4j.examples.cli.OutputFile;
import org.tp4j.examples.cli.VersionProvider;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpTraining;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.TpException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * The command {@code scripts/run-mlp.sh}, which runs {@link MlpTraining} with options, progress, a check against one rank, a
 * report and metrics.
 */
@Command(
        name = "run-mlp.sh",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        versionProvider = VersionProvider.class,
        usageHelpAutoWidth = true,
        description = {
            "Trains a Megatron-style MLP on 1,797 handwritten digits, its wide layers sharded over the ranks.",
            "The losses are the same for every number of ranks, up to rounding.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  run-mlp.sh                                  2 ranks as threads of one JVM",
            "  run-mlp.sh --ranks 4 --check                4 ranks, compared with one rank",
            "  run-mlp.sh --ranks 4 --launcher mpi         4 processes",
            "  mpirun -np 4 run-mlp.sh                     the same",
            "  mpirun -np 8 --hostfile hosts run-mlp.sh    on several machines",
            "  run-mlp.sh --report mlp.html                with a report",
            "",
            "Exit code: 0 trained (and the check passed), 1 failed, 2 invalid arguments."
        })
public final class MlpMain implements Callable<Integer> {
    @Mixin
    private MlpArguments arguments = new MlpArguments();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    private CommandSpec spec;

    private final Optional<LaunchEnvironment> launched =
            LaunchEnvironment.read(System.getenv()).filter(LaunchEnvironment::isMpi);

    private MlpMain() {}

    /** Runs the command. */
    public static void main(String[] arguments) {
        System.exit(run(arguments));
    }

    /** Runs the command and returns its exit code. */
    public static int run(String... arguments) {
        MlpMain command = new MlpMain();
        // Invalid arguments are invalid on every rank; only rank 0 reports them.
        return CommandRunner.run(command, command.isPrinting(), arguments);
    }

    private boolean isPrinting() {
        return launched.isEmpty() || launched.get().rank() == 0;
    }

    @Override
    public Integer call() {
        MlpRun run = new MlpRun(
                arguments.settings(Digits.load().train().size()),
                arguments.check,
                arguments.report == null ? null : outputFile("--report", arguments.report),
                arguments.metrics == null ? null : outputFile("--metrics", arguments.metrics),
                new TrainingConsole(System.out, System.err));
        LaunchOptions options = arguments.launchOptions(launched);
        checkDevice(options.deviceType());
        AtomicBoolean passed = new AtomicBoolean(true);
        try {
            Launch.run(options, world -> {
                if (!run.run(world)) {
                    passed.set(false);
                }
            });
        } catch (TpException | IllegalArgumentException | IllegalStateException e) {
            return CommandRunner.explain(e, spec.commandLine());
        }
        return passed.get() ? CommandRunner.OK : CommandRunner.FAILED;
    }

    private OutputFile outputFile(String option, Path path) {
        return isPrinting() ? OutputFile.check(option, path) : OutputFile.unchecked(path);
    }

    private static void checkDevice(String type) {
        String problem = Backends.availability().get(type);
        if (problem == null) {
            throw new TpException("--device " + type
                    + ": no module on the class path provides it; HINT: add the dependency org.tp4j:tp-" + type);
        }
        if (!problem.isEmpty()) {
            throw new TpException("--device " + type + " cannot be used here: " + problem
                    + (problem.contains("HINT:")
                            ? ""
                            : "; HINT: scripts/doctor.sh reports what is missing; --device cpu works anywhere"));
        }
    }
}
