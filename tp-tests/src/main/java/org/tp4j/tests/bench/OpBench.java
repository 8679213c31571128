package org.tp4j.tests.bench;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * What an operation costs the host: 8 × 8 float32 tensors, plain and on a mesh of one rank. Microseconds for an add, a matmul,
 * and forward and backward of sum(relu(x @ w)) with both operands requiring gradients, all timed in turns. Each call runs in a scope of its own,
 * as a result's memory must come back for the next. A device is waited for now and then, outside of what is timed, so that its
 * queue never holds the host up.
 */
@Command(
        name = "op",
        description = "What an operation costs the host, in microseconds: 8 x 8, plain tensors and tensors on a mesh.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
@SuppressWarnings("try") // a scope that only owns
public final class OpBench implements Callable<Integer> {
    private static final int ROUNDS = 15;
    private static final int STEADY_ROUNDS = 8;
    private static final double STEADY = 0.98; // faster than this is still becoming faster
    private static final int CALLS_AHEAD = 50; // of an operation with some ten kernels: half of what a device queues

    @Spec
    @SuppressWarnings("NullAway.Init") // set before call()
    private CommandSpec spec;

    @Option(names = "--device", paramLabel = "TYPE", description = "cpu or cuda (default: ${DEFAULT-VALUE}).")
    private String device = "cpu";

    @Option(names = "--warmup-ms", description = "Least warm-up of all together (default: ${DEFAULT-VALUE}).")
    private int warmupMs = 2000;

    @Option(names = "--calls", description = "Calls of each in a round (default: ${DEFAULT-VALUE}).")
    private int calls = 5_000;

    /** For picocli. */
    public OpBench() {}

    OpBench(int warmupMs, int calls) {
        this.warmupMs = warmupMs;
        this.calls = calls;
    }

    @Override
    public Integer call() {
        LaunchOptions options =
                LaunchOptions.defaults().withLauncher("threads").withRanks(1).withDeviceType(device);
        Launch.run(options, world -> spec.commandLine().getOut().println(measure(world, new Report())));
        return 0;
    }

    /** Measures, and adds the microseconds of each: the median round as {@code NAME_us}, the least and the largest beside it. */
    Report measure(World world, Report report) {
        Tensor x = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(8, 8), 0, 1, 0, 1);
        Tensor w = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(8, 8), 0, 1, 0, 2);
        DeviceMesh mesh = DeviceMesh.of(world, "tp");
        Tensor onMesh = DTensors.distribute(x, mesh, Placement.replicate());
        Tensor sharded = DTensors.distribute(w, mesh, Placement.shard(1));
        Backend backend = world.backend();
        Map<String, Runnable> bodies = new LinkedHashMap<>();
        bodies.put("add", () -> x.add(w));
        bodies.put("matmul", () -> x.matmul(w));
        bodies.put("dtensor_add", () -> onMesh.add(onMesh));
        bodies.put("dtensor_matmul", () -> onMesh.matmul(sharded));
        bodies.put("chain", chain(x, w));
        bodies.put("dtensor_chain", chain(onMesh, sharded));
        report.put("warmup_rounds", warmUp(backend, bodies));
        Map<String, Times> times = rounds(backend, bodies, ROUNDS);
        times.forEach((name, all) -> report.put(name + "_us", 1e3 * all.median(), 3)
                .put(name + "_min_us", 1e3 * all.min(), 3)
                .put(name + "_max_us", 1e3 * all.max(), 3));
        return report;
    }

    /**
     * Runs all in turns until none has become faster for a while, so that the JVM has compiled each as it will stay when all of
     * them are in use; at least for {@code --warmup-ms} and at most for ten times as long. Returns the number of rounds.
     */
    private int warmUp(Backend backend, Map<String, Runnable> bodies) {
        long start = System.nanoTime();
        long least = warmupMs * 1_000_000L;
        Map<String, Double> best = new LinkedHashMap<>();
        int sinceFaster = 0;
        int done = 0;
        for (; ; done++) {
            long spent = System.nanoTime() - start;
            if (spent > 10 * least || spent > least && sinceFaster >= STEADY_ROUNDS) {
                return done;
            }
            sinceFaster++;
            for (Map.Entry<String, Times> one : rounds(backend, bodies, 1).entrySet()) {
                double now = one.getValue().median();
                double before = best.getOrDefault(one.getKey(), Double.POSITIVE_INFINITY);
                if (now < before) {
                    best.put(one.getKey(), now);
                    sinceFaster = now < STEADY * before ? 0 : sinceFaster;
                }
            }
        }
    }

    /** Milliseconds a call of each, by round, in turns. */
    private Map<String, Times> rounds(Backend backend, Map<String, Runnable> bodies, int count) {
        Map<String, Times> times = new LinkedHashMap<>();
        for (int round = 0; round < count; round++) {
            bodies.forEach((name, body) ->
                    times.computeIfAbsent(name, n -> new Times(count)).addNanos(run(backend, body, calls)));
        }
        return times;
    }

    private static Runnable chain(Tensor x, Tensor w) {
        Tensor a = x.detach().requiresGrad(true);
        Tensor b = w.detach().requiresGrad(true);
        return () -> a.matmul(b).relu().sum().backward();
    }

    /** Nanoseconds a call. */
    private static double run(Backend backend, Runnable body, int times) {
        long nanos = 0;
        for (int done = 0; done < times; done += CALLS_AHEAD) {
            int burst = Math.min(CALLS_AHEAD, times - done);
            long start = System.nanoTime();
            for (int i = 0; i < burst; i++) {
                try (Scope scope = Scope.open("call")) {
                    body.run();
                }
            }
            nanos += System.nanoTime() - start;
            backend.synchronize();
        }
        return (double) nanos / times;
    }
}
