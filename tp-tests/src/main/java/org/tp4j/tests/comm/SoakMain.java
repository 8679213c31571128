package org.tp4j.tests.comm;

import java.util.Map;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.comm.launch.Launch;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Mlp;
import org.tp4j.optim.AdamW;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Trains the model of the README for many steps, with a scope per step or without any, and says what memory it holds. */
public final class SoakMain {
    private static final int REPORTS = 10;

    private SoakMain() {}

    /**
     * Runs it.
     *
     * @param args number of steps; {@code scopes}, {@code none}, or {@code forgotten}: opened and never closed
     */
    public static void main(String[] args) {
        int steps = Integer.parseInt(args[0]);
        Launch.run(TestLaunch.options(), world -> train(world, steps, args[1]));
    }

    @SuppressWarnings("try") // scopes that only own
    private static void train(World world, int steps, String scopes) {
        Mlp model = Parallelize.apply(
                new Mlp(64, 256, Activation.GELU, true),
                DeviceMesh.of(world, "tp"),
                Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
        model.materialize(world.backend(), DType.FLOAT32, 42);
        AdamW optimizer = new AdamW(model, 1e-3);
        for (int step = 1; step <= steps; step++) {
            switch (scopes) {
                case "scopes" -> {
                    try (Scope scope = Scope.open("step")) {
                        step(world, model, optimizer, step);
                    }
                }
                case "forgotten" -> {
                    Scope.open("step");
                    step(world, model, optimizer, step);
                }
                default -> step(world, model, optimizer, step);
            }
            if (step % (steps / REPORTS) == 0) {
                world.group().barrier();
                if (world.rank() == 0) {
                    System.gc();
                    Runtime runtime = Runtime.getRuntime();
                    System.out.println("@held " + step + " " + (runtime.totalMemory() - runtime.freeMemory()));
                }
                world.group().barrier();
            }
        }
    }

    private static void step(World world, Mlp model, AdamW optimizer, int step) {
        Tensor x = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(8, 64), 0, 1, 42, step);
        model.apply(x).square().mean().backward();
        optimizer.step();
        optimizer.clearGradients();
    }
}
