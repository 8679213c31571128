package org.tp4j.tests.bench;

import java.util.concurrent.Callable;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchEnvironment;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.tensor.DType;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A training step ({@link TrainedMlp}), tensor-parallel over all ranks; x is whole on every rank. The six matrix products alone ({@link MlpGemms}) are timed in turns with it, by all
 * ranks at once. A JVM compiles what it has run often enough: small steps go first, so that what is measured is a training
 * that has been running for some seconds.
 */
@Command(
        name = "mlp",
        description = "A training step of the Megatron-style MLP: forward, backward, SGD.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class MlpBench implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init") // set before call()
    private CommandSpec spec;

    @Option(names = "--ranks", paramLabel = "N", description = "Number of ranks (default: 2, or as mpirun started).")
    private int ranks;

    @Option(names = "--launcher", paramLabel = "NAME", description = "threads or mpi.")
    private String launcher = LaunchOptions.AUTO;

    @Option(names = "--device", paramLabel = "TYPE", description = "cpu or cuda (default: ${DEFAULT-VALUE}).")
    private String device = "cpu";

    @Option(names = "--dtype", paramLabel = "TYPE", description = "fp32, bf16 or fp64 (default: ${DEFAULT-VALUE}).")
    private String dtype = "fp32";

    @Option(names = "--tokens", paramLabel = "N", description = "Rows of x (default: ${DEFAULT-VALUE}).")
    private int tokens = 512;

    @Option(names = "--d-model", paramLabel = "N", description = "Columns of x (default: ${DEFAULT-VALUE}).")
    private int dModel = 1024;

    @Option(names = "--d-ff", paramLabel = "N", description = "Hidden columns (default: ${DEFAULT-VALUE}).")
    private int dFf = 4096;

    @Option(names = "--steps", paramLabel = "N", description = "Steps that count (default: ${DEFAULT-VALUE}).")
    private int steps = 20;

    @Option(names = "--warmup", paramLabel = "N", description = "Steps before them (default: ${DEFAULT-VALUE}).")
    private int warmup = 10;

    @Option(
            names = "--jvm-warmup",
            paramLabel = "N",
            description =
                    "Steps of a small model before all else, in which the JVM compiles (default: ${DEFAULT-VALUE}).")
    private int jvmWarmup = 1500;

    @Override
    public Integer call() {
        DType type = type();
        LaunchOptions launch = new LaunchOptions(launcher, ranks(), device, CommunicationOptions.fromSystem());
        Launch.run(launch, world -> {
            Report report = measure(world, type);
            if (world.rank() == 0) {
                spec.commandLine().getOut().println(report);
            }
        });
        return 0;
    }

    private int ranks() {
        boolean launched = LaunchEnvironment.read(System.getenv()).isPresent() && !launcher.equals("threads");
        return ranks > 0 || launched ? ranks : 2;
    }

    private DType type() {
        return switch (dtype) {
            case "fp32", "float32" -> DType.FLOAT32;
            case "bf16", "bfloat16" -> DType.BFLOAT16;
            case "fp64", "float64" -> DType.FLOAT64;
            default ->
                throw new CommandLine.ParameterException(
                        spec.commandLine(), "--dtype is " + dtype + "; HINT: fp32, bf16 or fp64");
        };
    }

    /** Nanoseconds of something that all ranks begin together. */
    private static long time(World world, Runnable body) {
        world.group().barrier();
        long start = System.nanoTime();
        body.run();
        world.backend().synchronize();
        return System.nanoTime() - start;
    }

    private Report measure(World world, DType type) {
        TrainedMlp small =
                new TrainedMlp(world, type, Math.min(tokens, 64), Math.min(dModel, 256), Math.min(dFf, 1024));
        for (int i = 0; i < jvmWarmup; i++) {
            small.step();
        }
        TrainedMlp trained = new TrainedMlp(world, type, tokens, dModel, dFf);
        Times stepTimes = new Times(steps);
        Times gemmTimes = new Times(steps);
        long agreement = 0;
        for (int i = 0; i < warmup + steps; i++) {
            agreement = i == warmup ? trained.agreementNanos() : agreement;
            long step = time(world, trained::step);
            long floor = time(world, trained.gemms()::run);
            if (i >= warmup) {
                stepTimes.addNanos(step);
                gemmTimes.addNanos(floor);
            }
        }
        double spent = (trained.agreementNanos() - agreement) * 1e-6 / steps;
        return report(world, stepTimes, gemmTimes).put("agreement_share", spent / stepTimes.median(), 5);
    }

    private Report report(World world, Times step, Times gemms) {
        double flops = TrainedMlp.flops(tokens, dModel, dFf);
        double seconds = step.median() / 1e3;
        return new Report()
                .put("device", device)
                .put("dtype", dtype)
                .put("tp", world.size())
                .put("tokens", tokens)
                .put("d_model", dModel)
                .put("d_ff", dFf)
                .put("step_ms", step.median(), 4)
                .put("min_ms", step.min(), 4)
                .put("max_ms", step.max(), 4)
                .put("tokens_per_s", tokens / seconds, 1)
                .put("gflops", flops / seconds / 1e9, 2)
                .put("launcher", world.launcher())
                .put("gemm_share", gemms.median() / step.median(), 4)
                .put("gemm_floor_ms", gemms.median(), 4);
    }
}
