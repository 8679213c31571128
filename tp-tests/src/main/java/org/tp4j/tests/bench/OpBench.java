package org.tp4j.tests.bench;

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
 * and forward and backward of sum(relu(x @ w)) with both operands requiring gradients. Each call runs in a scope of its own,
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
    private static final int TRIES = 5;
    private static final int CALLS_AHEAD = 50; // of an operation with some ten kernels: half of what a device queues

    @Spec
    @SuppressWarnings("NullAway.Init") // set before call()
    private CommandSpec spec;

    @Option(names = "--device", paramLabel = "TYPE", description = "cpu or cuda (default: ${DEFAULT-VALUE}).")
    private String device = "cpu";

    @Option(names = "--warmup-ms", description = "Warm-up of each measurement (default: ${DEFAULT-VALUE}).")
    private int warmupMs = 2000;

    @Option(names = "--calls", description = "Calls of each of the five tries (default: ${DEFAULT-VALUE}).")
    private int calls = 20_000;

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

    /** Measures, and adds the microseconds of each. */
    Report measure(World world, Report report) {
        Tensor x = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(8, 8), 0, 1, 0, 1);
        Tensor w = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(8, 8), 0, 1, 0, 2);
        DeviceMesh mesh = DeviceMesh.of(world, "tp");
        Tensor onMesh = DTensors.distribute(x, mesh, Placement.replicate());
        Tensor sharded = DTensors.distribute(w, mesh, Placement.shard(1));
        Backend backend = world.backend();
        return report.put("add_us", best(backend, () -> x.add(w)), 3)
                .put("matmul_us", best(backend, () -> x.matmul(w)), 3)
                .put("dtensor_add_us", best(backend, () -> onMesh.add(onMesh)), 3)
                .put("dtensor_matmul_us", best(backend, () -> onMesh.matmul(sharded)), 3)
                .put("chain_us", best(backend, chain(x, w)), 3)
                .put("dtensor_chain_us", best(backend, chain(onMesh, sharded)), 3);
    }

    private static Runnable chain(Tensor x, Tensor w) {
        Tensor a = x.detach().requiresGrad(true);
        Tensor b = w.detach().requiresGrad(true);
        return () -> a.matmul(b).relu().sum().backward();
    }

    /** Microseconds a call, in the best of five tries after a warm-up. */
    private double best(Backend backend, Runnable body) {
        long until = System.nanoTime() + warmupMs * 1_000_000L;
        while (System.nanoTime() < until) {
            run(backend, body, 100);
        }
        double best = Double.POSITIVE_INFINITY;
        for (int i = 0; i < TRIES; i++) {
            best = Math.min(best, run(backend, body, calls));
        }
        return best;
    }

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
        return nanos / 1e3 / times;
    }
}
