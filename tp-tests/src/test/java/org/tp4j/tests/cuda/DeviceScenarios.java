package org.tp4j.tests.cuda;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.optim.SGD;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Programs for processes of their own: each ends by an exception, or by printing {@code done}. */
final class DeviceScenarios {
    private DeviceScenarios() {}

    public static void main(String[] args) {
        switch (args[0]) {
            case "fault" -> fault();
            case "memory" -> memory();
            case "device" -> CudaBackend.of(Integer.parseInt(args[1]));
            case "ranks" -> ranks(Integer.parseInt(args[1]));
            case "parallel" -> parallel();
            case "signal" -> launchUntilSignalled(CudaBackend.of(0));
            case "train" -> train(CudaBackend.of(0));
            default -> throw new IllegalArgumentException(args[0]);
        }
        System.out.println("done in " + Path.of("").toAbsolutePath());
    }

    /** Writes far behind an array's end, as a kernel with a mistake would. */
    private static void fault() {
        CudaBackend cuda = CudaBackend.of(0);
        NdArray array = NdArray.full(cuda, DType.FLOAT32, Shape.of(4), 1);
        NdArray target = NdArray.allocate(cuda, DType.FLOAT32, Shape.of(4));
        long[] one = {1};
        long[] far = {1 << 19};
        cuda.elementwise().copy(array, 0, one, target, 0, far, new long[] {4});
        cuda.synchronize();
    }

    private static void memory() {
        CudaBackend cuda = CudaBackend.of(0);
        try (Scope scope = Scope.open("step")) {
            for (int i = 0; i < 100; i++) {
                NdArray.full(cuda, DType.FLOAT32, Shape.of(1 << 20), i);
            }
            throw new AssertionError("memory without end");
        } catch (org.tp4j.tensor.TpException e) {
            System.out.println(e.getMessage());
        }
        // Unreachable tensors that no scope has owned are found too.
        for (int i = 0; i < 100; i++) {
            NdArray.full(cuda, DType.FLOAT32, Shape.of(1 << 20), i);
        }
    }

    /** Two ranks train a tensor-parallel model, some steps eagerly and some captured, and read what came out at the end. */
    private static void parallel() {
        LaunchOptions options = new LaunchOptions("threads", 2, "cuda", CommunicationOptions.fromSystem());
        Launch.run(options, world -> {
            DeviceMesh mesh = DeviceMesh.of(world, "tp");
            Mlp model = Parallelize.apply(
                    new Mlp(8, 12, Activation.GELU, true),
                    mesh,
                    Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
            model.materialize(world.backend(), DType.FLOAT32, 42);
            SGD optimizer = new SGD(model, 0.1);
            Tensor x = Tensors.normal(world.backend(), DType.FLOAT32, Shape.of(6, 8), 0, 1, 42, 0);
            NdArray losses = NdArray.full(world.backend(), DType.FLOAT32, Shape.scalar(), 0);
            Runnable once = () -> {
                try (Scope scope = Scope.open("step")) {
                    optimizer.clearGradients();
                    Tensor loss = model.apply(x).square().mean();
                    loss.backward();
                    optimizer.step();
                    world.backend().elementwise().addScaled(1, loss.local(), losses);
                }
            };
            for (int i = 0; i < 4; i++) {
                once.run();
            }
            try (CapturedStep step = world.backend().capture(once)) {
                for (int i = 0; i < 6; i++) {
                    step.run();
                }
            }
            if (world.rank() == 0) {
                System.out.println("losses " + OnCuda.values(losses)[0]);
            }
        });
    }

    /** Launches and waits, again and again, as a training loop that somebody interrupts. */
    private static void launchUntilSignalled(CudaBackend cuda) {
        NdArray array = NdArray.full(cuda, DType.FLOAT32, Shape.of(4), 1);
        for (int i = 0; ; i++) {
            cuda.elementwise().addScaled(1, array, array);
            cuda.synchronize();
            if (i == 100) {
                System.out.println("running");
            }
        }
    }

    private static void ranks(int ranks) {
        LaunchOptions options = new LaunchOptions("threads", ranks, "cuda", CommunicationOptions.fromSystem());
        Launch.run(options, world -> train((CudaBackend) world.backend()));
    }

    /** Everything a training program makes: parameters, a captured step, a value read. */
    private static void train(CudaBackend cuda) {
        Linear model = new Linear(4, 3, true);
        model.materialize(cuda, DType.FLOAT32, 1);
        SGD optimizer = new SGD(model, 0.1);
        Tensor x = Tensors.ones(cuda, DType.FLOAT32, Shape.of(2, 4));
        Tensor labels = Tensors.of(cuda, new long[] {0, 2}, 2);
        NdArray loss = NdArray.allocate(cuda, DType.FLOAT32, Shape.scalar());
        Runnable once = () -> {
            try (Scope scope = Scope.open("step")) {
                optimizer.clearGradients();
                Tensor value = model.apply(x).crossEntropy(labels);
                value.backward();
                optimizer.step();
                loss.assign(value.local());
            }
        };
        try (CapturedStep step = cuda.capture(once)) {
            for (int i = 0; i < 5; i++) {
                step.run();
            }
        }
        System.out.println("loss " + List.of(OnCuda.values(loss)[0]));
    }
}
