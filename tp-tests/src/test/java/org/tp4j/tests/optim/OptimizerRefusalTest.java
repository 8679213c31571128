package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.CommunicationException;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.Module;
import org.tp4j.optim.Adam;
import org.tp4j.optim.AdamOptions;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.ParameterGroup;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** What optimizers refuse, and their hints. */
class OptimizerRefusalTest {
    private static final Backend CPU = CpuBackend.get();

    private static Mlp mlp() {
        return new Mlp(4, 8, Activation.RELU, true);
    }

    private static void parallelize(Module model, Rank rank) {
        Parallelize.apply(
                model, rank.mesh(), Map.of("up_proj", new ColwiseParallel(), "down_proj", new RowwiseParallel()));
    }

    private static Weights weights() {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(2));
        weights.materialize(CPU, DType.FLOAT64, 1);
        return weights;
    }

    @Test
    void shouldRefuseAModelParallelizedLater() {
        Ranks.run(2, rank -> {
            Mlp model = mlp();
            model.materialize(CPU, DType.FLOAT32, 1);
            Optimizer optimizer = new AdamW(model, 0.1);
            parallelize(model, rank);
            double[] before =
                    Weights.whole(model.parameters().get("up_proj.weight").tensor());
            for (Runnable use : List.<Runnable>of(
                    optimizer::step, optimizer::stepIfFinite, optimizer::state, () -> optimizer.loadState(Map.of()))) {
                assertThatThrownBy(use::run)
                        .isInstanceOf(LayoutException.class)
                        .hasMessageContaining(
                                "parameter 'up_proj.weight' was placed on a mesh, as [tp: Shard(0)], after"
                                        + " this AdamW was made")
                        .hasMessageContaining(
                                "HINT: first Parallelize.apply(model, mesh, plan), then make the optimizer");
            }
            assertThat(optimizer.stepCount()).isZero();
            assertThat(Weights.whole(model.parameters().get("up_proj.weight").tensor()))
                    .isEqualTo(before);
        });
    }

    @Test
    void shouldRefuseAModelMaterializedAgain() {
        Mlp model = mlp();
        model.materialize(CPU, DType.FLOAT32, 1);
        Optimizer optimizer = new SGD(model, 0.1);
        model.materialize(CPU, DType.FLOAT32, 2);
        assertThatThrownBy(optimizer::step)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(
                        "parameter 'up_proj.weight' was placed or materialized again after this SGD was made")
                .hasMessageContaining("HINT: first model.materialize(backend, dtype, seed), then make the optimizer");
    }

    @Test
    void shouldRefuseAModelWithoutValues() {
        assertThatThrownBy(() -> new AdamW(mlp(), 0.1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("parameter 'up_proj.weight' [8, 4] has no values yet, so AdamW cannot train it")
                .hasMessageContaining("model.materialize(backend, dtype, seed), then make the optimizer");
    }

    @Test
    void shouldRefuseAReplicatedParameterWhoseGradientStaysPending() {
        Ranks.run(2, rank -> {
            Weights weights = new Weights();
            weights.declare("w", Shape.of(2)).place(Layout.of(rank.mesh(), 1, Placement.replicate()));
            weights.materialize(CPU, DType.FLOAT32, 1);
            assertThatThrownBy(() -> new AdamW(weights, 0.1))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("'w' is never complete on mesh axis 'tp'")
                    .hasMessageContaining("HINT: place parameters Invariant or Shard");
        });
    }

    @Test
    void shouldReportWhichRanksHaveNoGradient() {
        Ranks.run(3, rank -> {
            Weights weights = new Weights();
            weights.declare("a", Shape.of(2), rank.mesh(), Placement.invariant());
            weights.declare("b", Shape.of(2), rank.mesh(), Placement.invariant());
            weights.materialize(CPU, DType.FLOAT64, 1);
            weights.gradient("a", Tensors.of(CPU, new double[] {1, 2}, 2));
            if (rank.number() != 1) {
                Tensor b = weights.parameter("b").tensor();
                b.backward(rank.place(org.tp4j.tests.oracle.Whole.of(Shape.of(2), 1, 2), Placement.invariant()));
            }
            Optimizer optimizer = new SGD(weights, 0.1);
            double[] before = weights.value("a");
            assertThatThrownBy(optimizer::step)
                    .isInstanceOf(CommunicationException.class)
                    .hasMessageContaining(
                            "parameter 'b' has a gradient on ranks [0, 2] of mesh axis 'tp' but none on ranks [1]")
                    .hasMessageContaining("HINT: run the same modules and backward() on every rank");
            assertThat(weights.value("a")).isEqualTo(before);
        });
    }

    @Test
    void shouldRefuseGroupsThatOverlap() {
        Weights weights = weights();
        ParameterGroup all = ParameterGroup.of(weights);
        assertThatThrownBy(() -> new SGD(List.of(all, all.withRateFactor(2)), SgdOptions.of(0.1)))
                .hasMessageContaining("parameter 'w' is in two groups; HINT: each parameter belongs to one");
        ParameterGroup sameName = ParameterGroup.of(Map.of("w", weights().parameter("w")));
        assertThatThrownBy(() -> new SGD(List.of(all, sameName), SgdOptions.of(0.1)))
                .hasMessageContaining("two parameters are named 'w'");
        assertThatThrownBy(() -> new SGD(List.of(), SgdOptions.of(0.1)))
                .hasMessageContaining("SGD has no parameters to train");
    }

    @Test
    void shouldRefuseAnEpsThatMakesZeroGradientsNaN() {
        for (double eps : new double[] {0, -1e-8, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> AdamW.options().eps(eps).build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("eps of Adam must be finite and above 0, was " + eps);
        }
        assertThatThrownBy(() -> Adam.options().eps(0).build())
                .hasMessageEndingWith("HINT: with 0 a gradient that is always 0 gives NaN; 1e-8 is usual");
    }

    @Test
    void shouldRefuseMeaninglessOptions() {
        assertThatThrownBy(() -> SgdOptions.of(0.1).withNesterov(0))
                .hasMessageContaining("Nesterov's SGD needs a momentum above 0; HINT: withNesterov(0.9)");
        assertThatThrownBy(() -> SgdOptions.of(0.1).withMomentum(1)).hasMessageContaining("below 1, was 1.0");
        assertThatThrownBy(() -> SgdOptions.of(0.1).withWeightDecay(-1)).hasMessageContaining("was -1.0");
        AdamOptions.Builder builder = AdamW.options().betas(0.9, 1.5);
        assertThatThrownBy(builder::build).hasMessageContaining("beta2 of Adam must be at least 0 and below 1");
        assertThatThrownBy(() -> ParameterGroup.of(weights()).withWeightDecay(Double.NaN))
                .hasMessageContaining("the weight decay of a parameter group must be finite");
    }
}
