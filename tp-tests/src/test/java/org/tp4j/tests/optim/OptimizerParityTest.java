package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Mlp;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.ParameterGroup;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Ranks;

/** Twenty clipped AdamW steps of an MLP with biases on T ranks are those of one rank. */
@SuppressWarnings("try") // scopes that only own
class OptimizerParityTest {
    private static final CpuBackend CPU = CpuBackend.get();
    private static final int STEPS = 20;
    private static final double MAX_NORM = 0.25;

    /** Sums in another order, over twenty steps. */
    private static final double FLOAT64_TOLERANCE = 1e-11;

    /** The same; Adam divides by roots of small squares, which magnifies roundings of 6e-8. */
    private static final double FLOAT32_TOLERANCE = 2e-4;

    /** Norms and losses before each step, values after the last. */
    private record Run(double[] norms, double[] losses, Map<String, double[]> values) {}

    private static Run train(@Nullable DeviceMesh mesh, DType dtype) {
        Mlp model = new Mlp(6, 10, Activation.GELU, true);
        if (mesh != null) {
            Map<String, org.tp4j.parallel.ParallelStyle> plan =
                    Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel());
            Parallelize.apply(model, mesh, "tp", plan);
        }
        model.materialize(CPU, dtype, 5);
        Optimizer optimizer = new AdamW(
                ParameterGroup.withoutDecayOfVectors(model),
                AdamW.options()
                        .learningRate(LearningRateSchedule.cosine(0.05, 0.005, 4, STEPS))
                        .weightDecay(0.1)
                        .build());
        double[] norms = new double[STEPS];
        double[] losses = new double[STEPS];
        for (int i = 0; i < STEPS; i++) {
            try (Scope scope = Scope.open("step")) {
                Tensor x = data(mesh, dtype, 8, i);
                Tensor target = data(mesh, dtype, 8, 1000 + i);
                optimizer.clearGradients();
                Tensor loss = model.apply(x).sub(target).square().mean();
                loss.backward();
                losses[i] = Weights.whole(loss)[0];
                norms[i] = GradientClipping.byNorm(model, MAX_NORM);
                optimizer.step();
            }
        }
        Map<String, double[]> values = new LinkedHashMap<>();
        model.state().forEach((name, tensor) -> values.put(name, Weights.whole(tensor)));
        optimizer.state().forEach((name, tensor) -> values.put(name, Weights.whole(tensor)));
        return new Run(norms, losses, values);
    }

    /** A batch of the step, the rows of each data-parallel rank where there are such ranks. */
    private static Tensor data(@Nullable DeviceMesh mesh, DType dtype, long rows, long stream) {
        Tensor whole = Tensors.uniform(CPU, dtype, Shape.of(rows, 6), -1, 1, 3, stream);
        if (mesh == null || mesh.axisCount() == 1) {
            return whole;
        }
        DTensor cut = DTensors.distribute(whole, mesh, Placement.shard(0), Placement.invariant());
        return cut;
    }

    private static void assertSame(Run run, Run alone, double tolerance) {
        assertClose("norms", run.norms, alone.norms, tolerance);
        assertClose("losses", run.losses, alone.losses, tolerance);
        assertThat(run.values.keySet()).isEqualTo(alone.values.keySet());
        alone.values.forEach((name, expected) -> assertClose(name, run.values.get(name), expected, tolerance));
    }

    private static void assertClose(String what, double[] actual, double[] expected, double tolerance) {
        double largest = 0;
        double difference = 0;
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
            largest = Math.max(largest, Math.abs(expected[i]));
            difference = Math.max(difference, Math.abs(actual[i] - expected[i]));
        }
        assertThat(difference).as(what).isLessThanOrEqualTo(tolerance * largest);
    }

    @ParameterizedTest
    @CsvSource({"1, FLOAT64", "2, FLOAT64", "3, FLOAT64", "4, FLOAT64", "2, FLOAT32", "3, FLOAT32", "4, FLOAT32"})
    void shouldTrainAsOneRank(int ranks, DType dtype) {
        Run alone = train(null, dtype);
        assertThat(java.util.Arrays.stream(alone.norms).boxed())
                .as("both clipped and unclipped steps")
                .anyMatch(n -> n > MAX_NORM)
                .anyMatch(n -> n < MAX_NORM);
        Ranks.run(ranks, rank -> {
            Run run = train(rank.mesh(), dtype);
            assertSame(run, alone, dtype == DType.FLOAT64 ? FLOAT64_TOLERANCE : FLOAT32_TOLERANCE);
            for (double[] norms : rank.all(run.norms)) {
                assertThat(norms).as("the same bits on every rank").isEqualTo(run.norms);
            }
        });
    }

    @Test
    void shouldTrainAsOneRankWithDataParallelRanksToo() {
        Run alone = train(null, DType.FLOAT64);
        Ranks.run(List.of(2, 2), rank -> {
            Run run = train(rank.mesh(), DType.FLOAT64);
            assertSame(run, alone, FLOAT64_TOLERANCE);
            List<double[]> all = new ArrayList<>(rank.all(run.norms));
            assertThat(all).allSatisfy(norms -> assertThat(norms).isEqualTo(run.norms));
        });
    }
}
