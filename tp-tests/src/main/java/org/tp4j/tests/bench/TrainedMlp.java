package org.tp4j.tests.bench;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.Tensors;
import org.tp4j.autograd.internal.Agreed;
import org.tp4j.comm.World;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Mlp;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/**
 * The training step that is measured everywhere: y = down(gelu(up(x))) with biases and the tanh form of GELU, loss =
 * mean(y²), gradients of all parameters and of x, then SGD. Parameters, activations and gradients are of one type. Gradients
 * are let go of at the beginning of a step, not filled with zeros. {@code scripts/torch_mlp.py} is the same in PyTorch.
 */
@SuppressWarnings("try") // a scope that only owns
final class TrainedMlp {
    private static final double LEARNING_RATE = 1e-3;

    private final Layer model;
    private final Optimizer optimizer;
    private final Tensor x;
    private final MlpGemms gemms;
    private final @Nullable DeviceMesh mesh;

    TrainedMlp(World world, DType type, int tokens, int dModel, int dFf) {
        model = new Mlp(dModel, dFf, Activation.GELU_TANH, true);
        mesh = world.size() > 1 ? DeviceMesh.of(world, "tp") : null;
        if (mesh != null) {
            Parallelize.apply(
                    model, mesh, Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
        }
        model.materialize(world.backend(), type, 0);
        x = Tensors.normal(world.backend(), type, Shape.of(tokens, dModel), 0, 1, 0, 1)
                .requiresGrad(true);
        optimizer = new SGD(model, LEARNING_RATE);
        int localFf = Math.max(1, (dFf + world.size() - 1) / world.size());
        gemms = new MlpGemms(world.backend(), type, tokens, dModel, localFf);
    }

    /** Floating-point operations of a step's matrix products over all ranks: two layers, forward, dX and dW each. */
    static double flops(int tokens, int dModel, int dFf) {
        return 6.0 * 2 * tokens * dModel * dFf;
    }

    void step() {
        try (Scope scope = Scope.open("step")) {
            optimizer.clearGradients();
            x.clearGrad();
            model.apply(x).square().mean().backward();
            optimizer.step();
        }
    }

    /** Nanoseconds that this rank has spent so far on what ranks agree on; 0 on one rank. */
    long agreementNanos() {
        return mesh == null ? 0 : Agreed.on(mesh).ledger().nanos();
    }

    /** The step's matrix products alone. */
    MlpGemms gemms() {
        return gemms;
    }
}
