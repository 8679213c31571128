package example;

import java.util.Map;
import org.tp4j.autograd.Tensors;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Mlp;
import org.tp4j.optim.AdamW;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Trains an MLP split over two ranks to give back its input, and checks that the loss falls. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        ThreadRanks.run(2, world -> {
            Backend backend = world.backend();
            Mlp model = new Mlp(8, 32, Activation.GELU, true);
            Parallelize.apply(
                    model,
                    DeviceMesh.of(world, "tp"),
                    Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
            model.materialize(backend, DType.FLOAT32, 42);
            AdamW optimizer = new AdamW(model, 1e-2);
            Tensor x = Tensors.normal(backend, DType.FLOAT32, Shape.of(16, 8), 0, 1, 42, 0);
            double first = 0;
            double last = 0;
            for (int step = 0; step < 100; step++) {
                try (Scope scope = Scope.open("step")) {
                    Tensor loss = model.apply(x).sub(x).square().mean();
                    loss.backward();
                    optimizer.step();
                    optimizer.clearGradients();
                    last = loss.item();
                    first = step == 0 ? last : first;
                }
            }
            if (!(last < first / 10)) {
                throw new IllegalStateException("the loss went from " + first + " to " + last);
            }
            if (world.rank() == 0) {
                System.out.println("trained: the loss went from " + first + " to " + last);
            }
        });
    }
}
