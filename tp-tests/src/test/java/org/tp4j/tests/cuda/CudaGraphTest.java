package org.tp4j.tests.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.launch.Launch;
import org.tp4j.comm.launch.LaunchOptions;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.cuda.CudaBackend;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** A step that is captured once and replayed gives the numbers of steps run one by one. */
class CudaGraphTest {
    private static final int STEPS = 8;
    private static final int ROWS = 6;
    private static final int D = 8;
    private static final int CLASSES = 5;

    /** Trains a small model with dropout, a schedule and weight decay; the loss of every step. */
    private static final class Training {
        private final Backend backend;
        private final Sequential model = new Sequential(
                new Mlp(D, 2 * D, Activation.GELU, true), new Dropout(0.25), new Linear(D, CLASSES, true));
        private final Tensor x;
        private final Tensor labels;
        private final NdArray loss;
        private final AdamW optimizer;

        Training(Backend backend, DeviceMesh mesh) {
            this.backend = backend;
            if (mesh != null) {
                Parallelize.apply(
                        model, mesh, Map.of("0.up_proj", new ColwiseParallel(), "0.down_proj", new RowwiseParallel()));
            }
            model.materialize(backend, DType.FLOAT32, 11);
            x = Tensors.zeros(backend, DType.FLOAT32, Shape.of(ROWS, D));
            labels = Tensors.of(backend, new long[ROWS], ROWS);
            loss = NdArray.allocate(backend, DType.FLOAT32, Shape.scalar());
            optimizer = new AdamW(
                    List.of(org.tp4j.optim.ParameterGroup.of(model)),
                    AdamW.options()
                            .learningRate(LearningRateSchedule.cosine(0.02, 0.002, 2, STEPS))
                            .build());
        }

        void step() {
            try (Scope scope = Scope.open("step")) {
                optimizer.clearGradients();
                Tensor value = model.apply(x).crossEntropy(labels);
                value.backward();
                optimizer.step();
                loss.assign(value.local());
            }
        }

        List<Double> run(Runnable step) {
            List<Double> losses = new ArrayList<>();
            for (int s = 0; s < STEPS; s++) {
                try (Scope scope = Scope.open("batch")) {
                    x.local()
                            .assign(Tensors.normal(backend, DType.FLOAT32, Shape.of(ROWS, D), 0, 1, 3, s)
                                    .local());
                    long[] numbers = new long[ROWS];
                    for (int r = 0; r < ROWS; r++) {
                        numbers[r] = (r * 7L + s) % CLASSES;
                    }
                    labels.local().assign(Tensors.of(backend, numbers, ROWS).local());
                    model.beginStep(s);
                    step.run();
                    losses.add((double) OnCuda.values(loss)[0]);
                }
            }
            return losses;
        }
    }

    private static List<Double> eager(Backend backend) {
        Training training = new Training(backend, null);
        return training.run(training::step);
    }

    @Test
    void shouldReplayTheNumbersOfEagerStepsWithDropoutAndASchedule() {
        CudaBackend cuda = OnCuda.device();
        List<Double> eager = eager(cuda);
        Training training = new Training(cuda, null);
        try (CapturedStep step = cuda.capture(training::step)) {
            assertThat(training.run(step::run)).isEqualTo(eager);
        }
        assertThat(training.optimizer.stepCount()).isEqualTo(STEPS);
        List<Double> onCpu = eager(CpuBackend.get());
        for (int s = 0; s < STEPS; s++) {
            assertThat(eager.get(s)).isCloseTo(onCpu.get(s), within(2e-5));
        }
    }

    /** A captured step writes to its temporary memory at each run; nobody else may have got it meanwhile. */
    @Test
    void shouldKeepTheMemoryOfACapturedStepFromOthers() {
        CudaBackend cuda = OnCuda.device();
        Shape shape = Shape.of(1000);
        Runnable once = () -> {
            try (Scope scope = Scope.open("step")) {
                NdArray.full(cuda, DType.FLOAT32, shape, 1);
                NdArray.full(cuda, DType.FLOAT32, shape, 2);
            }
        };
        try (CapturedStep step = cuda.capture(once);
                Scope scope = Scope.open("others")) {
            for (int i = 0; i < 3; i++) {
                step.run();
            }
            List<NdArray> others = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                others.add(NdArray.full(cuda, DType.FLOAT32, shape, 99));
            }
            step.run();
            for (NdArray other : others) {
                assertThat(OnCuda.values(other)).containsOnly(99);
            }
        }
    }

    @Test
    void shouldAskTheDriverForNoMemoryOnceCaptured() {
        CudaBackend cuda = OnCuda.device();
        Training training = new Training(cuda, null);
        try (CapturedStep step = cuda.capture(training::step)) {
            for (int i = 0; i < 3; i++) {
                step.run();
            }
            long before = cuda.driverCalls();
            for (int i = 0; i < 3; i++) {
                step.run();
            }
            cuda.synchronize();
            assertThat(cuda.driverCalls()).isEqualTo(before);
        }
    }

    @Test
    void shouldNameABadLabelOfAReplayedStep() {
        CudaBackend cuda = OnCuda.device();
        Training training = new Training(cuda, null);
        try (CapturedStep step = cuda.capture(training::step)) {
            for (int i = 0; i < 4; i++) {
                step.run();
            }
            training.labels
                    .local()
                    .assign(Tensors.of(cuda, new long[] {0, 1, 2, CLASSES, 0, 0}, ROWS)
                            .local());
            step.run();
            assertThatThrownBy(() -> OnCuda.values(training.loss))
                    .hasMessageContaining("position 3 of ids [6]")
                    .hasMessageContaining("outside 0 to 4");
            training.labels
                    .local()
                    .assign(Tensors.of(cuda, new long[ROWS], ROWS).local());
            step.run();
            OnCuda.values(training.loss);
        }
    }

    @Test
    void shouldRefuseAStepThatReadsAValue() {
        CudaBackend cuda = OnCuda.device();
        Tensor x = Tensors.ones(cuda, DType.FLOAT32, Shape.of(3));
        try (CapturedStep step = cuda.capture(() -> x.mul(x).sum().item())) {
            step.run();
            step.run();
            assertThatThrownBy(step::run).hasMessageContaining("read losses and norms after it");
            // the device goes on
            assertThat(x.sum().item()).isEqualTo(3);
        }
    }

    @Test
    void shouldReplayCollectivesToo() {
        OnCuda.device(1);
        LaunchOptions options = new LaunchOptions("threads", 2, "cuda", CommunicationOptions.fromSystem());
        List<Double> eager = eager(CudaBackend.of(0));
        Launch.run(options, world -> {
            DeviceMesh mesh = DeviceMesh.of(world.group(), world.backend(), List.of(Map.entry("tp", 2)));
            Training training = new Training(world.backend(), mesh);
            try (CapturedStep step = world.backend().capture(training::step)) {
                List<Double> losses = training.run(step::run);
                for (int s = 0; s < STEPS; s++) {
                    assertThat(losses.get(s)).isCloseTo(eager.get(s), within(2e-5));
                }
            }
        });
    }
}
