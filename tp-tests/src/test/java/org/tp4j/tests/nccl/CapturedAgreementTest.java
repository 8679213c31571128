package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.DisagreementException;
import org.tp4j.comm.World;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.CapturedStep;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.threads.ThreadRanks;

/** Ranks agree in the runs of a captured step as well, of which the host does little. */
@Timeout(120)
class CapturedAgreementTest {
    private static final int RUNS = 12;
    private static final int FROM = 6;

    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    /** A learning rate and a step number that may differ by rank. */
    private interface Numbers {
        double rate(int rank, long step);

        long step(int rank, long run);
    }

    private static boolean train(World world, Numbers numbers) {
        int rank = world.rank();
        Layer model = new Sequential(new Linear(4, 8, true), new Dropout(0.25), new Linear(8, 2, true));
        Parallelize.apply(
                model, DeviceMesh.of(world, "tp"), Map.of("0", new ColwiseParallel(), "2", new RowwiseParallel()));
        model.materialize(world.backend(), DType.FLOAT32, 1);
        LearningRateSchedule schedule = step -> numbers.rate(rank, step);
        Optimizer optimizer = new SGD(model, new SgdOptions(schedule, 0, 0, false));
        Tensor x = Tensors.full(world.backend(), DType.FLOAT32, Shape.of(3, 4), 0.5);
        try (CapturedStep step = world.backend().capture(() -> {
            try (Scope scope = Scope.open("step")) {
                optimizer.clearGradients();
                model.apply(x).square().mean().backward();
                optimizer.step();
            }
        })) {
            for (int run = 0; run < RUNS; run++) {
                model.beginStep(numbers.step(rank, run));
                step.run();
            }
        }
        return true;
    }

    private static void run(Numbers numbers) {
        ThreadRanks.call("cuda", 2, Simulator.options(), world -> train(world, numbers));
    }

    private record Told(boolean rate, boolean step) implements Numbers {
        @Override
        public double rate(int rank, long step) {
            return rate && rank == 1 && step >= FROM ? 0.2 : 0.1;
        }

        @Override
        public long step(int rank, long run) {
            return step && rank == 1 && run >= FROM ? run + 1 : run;
        }
    }

    @Test
    void shouldLeaveAgreeingRanksAlone() {
        run(new Told(false, false));
    }

    @Test
    void shouldTellAnotherLearningRate() {
        assertThatThrownBy(() -> run(new Told(true, false)))
                .isInstanceOf(DisagreementException.class)
                .hasMessageContaining("in step " + (FROM + 1))
                .hasMessageContaining("learning rate is 0.1 on rank 0 and 0.2 on rank 1");
    }

    @Test
    void shouldTellAnotherRandomStream() {
        assertThatThrownBy(() -> run(new Told(false, true)))
                .isInstanceOf(DisagreementException.class)
                .hasMessageContaining("in step " + (FROM + 1))
                .hasMessageContaining("dropout(p=0.25");
    }
}
