package org.tp4j.tests.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.Tensors;
import org.tp4j.cpu.CpuBackend;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.optim.Adam;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** Case A25: AdamW's state moved to another number of ranks. */
class OptimizerStateTest {
    private static final Cases CASE = Cases.of("A25");
    private static final Backend CPU = CpuBackend.get();

    private static final int SAVED_AFTER = (int) CASE.number("save_after_step");

    private static Weights weights(Rank rank, DType dtype) {
        Weights weights = new Weights();
        weights.declare("w", Shape.of(6), rank.mesh(), Placement.shard(0));
        weights.materialize(rank.backend(), dtype, 1);
        weights.loadState(Map.of("w", CASE.tensor(rank.backend(), DType.FLOAT64, "w0")));
        return weights;
    }

    private static Optimizer optimizer(Weights weights) {
        return new AdamW(
                weights,
                AdamW.options()
                        .learningRate(CASE.number("optimizer/lr"))
                        .betas(CASE.number("optimizer/beta1"), CASE.number("optimizer/beta2"))
                        .eps(CASE.number("optimizer/eps"))
                        .weightDecay(CASE.number("optimizer/weight_decay"))
                        .build());
    }

    private static void step(Weights weights, Optimizer optimizer, int number) {
        optimizer.clearGradients();
        weights.gradient("w", CASE.tensor(CPU, DType.FLOAT64, "grads/" + number));
        optimizer.step();
        assertThat(optimizer.stepCount()).isEqualTo(number + 1);
        Map<String, Tensor> state = optimizer.state();
        CASE.assertIs("trace/" + number + "/w", weights.parameter("w").tensor());
        CASE.assertIs("trace/" + number + "/m", state.get("w.m"));
        CASE.assertIs("trace/" + number + "/v", state.get("w.v"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldTraceEveryStep(int ranks) {
        for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
            Ranks.run(ranks, rank -> {
                Weights weights = weights(rank, dtype);
                Optimizer optimizer = optimizer(weights);
                long from = CASE.longs("slices/" + ranks + "/" + rank.number())[0];
                long to = CASE.longs("slices/" + ranks + "/" + rank.number())[1];
                Tensor m = optimizer.state().get("w.m");
                assertThat(m.local().shape()).isEqualTo(Shape.of(to - from));
                assertThat(m.dtype()).isEqualTo(dtype);
                assertThat(((DTensor) m).layout())
                        .isEqualTo(weights.parameter("w").layout());
                for (int i = 0; i < 5; i++) {
                    step(weights, optimizer, i);
                }
            });
        }
    }

    /** Whole tensors of the model and the optimizer after the third step, as a rank of the first run gives them. */
    private static Map<String, double[]> save(int ranks, DType dtype) {
        List<Map<String, double[]>> saved = new ArrayList<>();
        Ranks.run(ranks, rank -> {
            Weights weights = weights(rank, dtype);
            Optimizer optimizer = optimizer(weights);
            for (int i = 0; i < SAVED_AFTER; i++) {
                step(weights, optimizer, i);
            }
            Map<String, double[]> whole = new HashMap<>();
            optimizer.state().forEach((name, tensor) -> whole.put(name, Weights.whole(tensor)));
            whole.put("w", weights.value("w"));
            if (rank.number() == 0) {
                saved.add(whole);
            }
        });
        return saved.get(0);
    }

    private static Map<String, Tensor> optimizerState(Map<String, double[]> saved) {
        Map<String, Tensor> state = new HashMap<>();
        for (String name : List.of("w.m", "w.v")) {
            state.put(name, Tensors.of(CPU, saved.get(name), 6));
        }
        for (String name : List.of("step", "w.step")) {
            state.put(name, Tensors.of(CPU, new long[] {(long) saved.get(name)[0]}));
        }
        saved.forEach((name, values) -> {
            if (name.startsWith("optimizer.")) {
                state.put(name, Tensors.of(CPU, values));
            }
        });
        return state;
    }

    private static Optimizer adam(Weights weights, double rate, double beta2, double eps, double decay) {
        return new AdamW(
                weights,
                AdamW.options()
                        .learningRate(rate)
                        .betas(0.9, beta2)
                        .eps(eps)
                        .weightDecay(decay)
                        .build());
    }

    @Test
    void shouldRefuseTheStateOfAnotherOptimizerAndNameEachOption() {
        Ranks.run(2, rank -> {
            Weights weights = weights(rank, DType.FLOAT64);
            Map<String, Tensor> state = adam(weights, 0.1, 0.999, 1e-8, 0.01).state();
            assertThat(state.get("optimizer.AdamW.beta2").item()).isEqualTo(0.999);
            assertThatThrownBy(() -> adam(weights, 0.2, 0.95, 1e-6, 0).loadState(state))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the state does not fit this AdamW, nothing was changed")
                    .hasMessageContaining("option learning_rate: 0.2 here, 0.1 in the state")
                    .hasMessageContaining("option beta2: 0.95 here, 0.999 in the state")
                    .hasMessageContaining("option eps: 1.0E-6 here, 1.0E-8 in the state")
                    .hasMessageContaining("option weight_decay: 0.0 here, 0.01 in the state")
                    .hasMessageContaining(
                            "HINT: it must come from the same kind of optimizer with the same parameters, types and"
                                    + " options; loadStateWithOtherOptions goes on with other options");
            Optimizer adam = new Adam(weights, 0.1);
            assertThatThrownBy(() -> adam.loadState(state))
                    .hasMessageContaining("it is the state of AdamW, not of Adam");
            assertThatThrownBy(() -> adam.loadStateWithOtherOptions(state))
                    .hasMessageContaining("it is the state of AdamW, not of Adam");
            Map<String, Tensor> nameless = new HashMap<>(state);
            nameless.keySet().removeIf(name -> name.startsWith("optimizer."));
            assertThatThrownBy(() -> adam(weights, 0.1, 0.999, 1e-8, 0.01).loadState(nameless))
                    .hasMessageContaining("missing: what optimizer it is of, such as 'optimizer.AdamW.learning_rate'");
        });
    }

    @Test
    void shouldGoOnWithOtherOptionsIfAllowed() {
        Ranks.run(2, rank -> {
            Weights weights = weights(rank, DType.FLOAT64);
            Optimizer before = adam(weights, 0.1, 0.999, 1e-8, 0.01);
            weights.gradient("w", CASE.tensor(CPU, DType.FLOAT64, "grads/0"));
            before.step();
            Optimizer after = adam(weights, 0.2, 0.95, 1e-6, 0);
            after.loadStateWithOtherOptions(before.state());
            assertThat(after.stepCount()).isOne();
            assertThat(Weights.whole(after.state().get("w.m")))
                    .isEqualTo(Weights.whole(before.state().get("w.m")));
            assertThat(after.state().get("optimizer.AdamW.beta2").item()).isEqualTo(0.95);
        });
    }

    @Test
    void shouldCompareTheRateWithThatOfTheFinishedSteps() {
        Ranks.run(2, rank -> {
            Weights weights = weights(rank, DType.FLOAT64);
            Optimizer before = new SGD(weights, SgdOptions.of(LearningRateSchedule.linear(1, 0, 0, 10)));
            weights.gradient("w", CASE.tensor(CPU, DType.FLOAT64, "grads/0"));
            before.step();
            new SGD(weights, SgdOptions.of(LearningRateSchedule.linear(1, 0, 0, 10))).loadState(before.state());
            assertThatThrownBy(() -> new SGD(weights, SgdOptions.of(LearningRateSchedule.linear(1, 0, 0, 20)))
                            .loadState(before.state()))
                    .hasMessageContaining("option learning_rate: 0.95 here, 0.9 in the state");
        });
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "2, 3", "2, 4", "4, 1", "4, 3", "4, 4", "1, 4", "3, 2"})
    void shouldContinueAsWithoutTheBreak(int before, int after) {
        for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
            Map<String, double[]> saved = save(before, dtype);
            Ranks.run(after, rank -> {
                Weights weights = weights(rank, dtype);
                Optimizer optimizer = optimizer(weights);
                weights.loadState(Map.of("w", Tensors.of(CPU, saved.get("w"), 6)));
                optimizer.loadState(optimizerState(saved));
                step(weights, optimizer, 3);
                step(weights, optimizer, 4);
                Cases.assertClose("w after 5", weights.value("w"), CASE.doubles("w_after_5"), dtype);
            });
        }
    }

    @Test
    void shouldTakeItsOwnStateBackFromTheMesh() {
        Ranks.run(3, rank -> {
            Weights weights = weights(rank, DType.FLOAT64);
            Optimizer optimizer = optimizer(weights);
            step(weights, optimizer, 0);
            Optimizer other = optimizer(weights);
            other.loadState(optimizer.state());
            step(weights, other, 1);
        });
    }

    @Test
    void shouldListEverythingThatDoesNotFitAndChangeNothing() {
        Ranks.run(2, rank -> {
            Weights weights = weights(rank, DType.FLOAT64);
            Optimizer optimizer = optimizer(weights);
            step(weights, optimizer, 0);
            Map<String, Tensor> wrong = new HashMap<>();
            wrong.put("step", Tensors.of(CPU, new long[] {-7}));
            wrong.put("w.step", Tensors.of(CPU, new double[] {7}));
            wrong.put("w.m", Tensors.of(CPU, new double[] {1, 2, 3}, 3));
            wrong.put("w.momentum", Tensors.of(CPU, new double[6], 6));
            assertThatThrownBy(() -> optimizer.loadState(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("the state does not fit this AdamW, nothing was changed")
                    .hasMessageContaining("'step' is -7")
                    .hasMessageContaining("'w.step' must be one whole number, is float64[]")
                    .hasMessageContaining("shape of 'w.m': [6] expected, [3] given")
                    .hasMessageContaining("missing: 'w.v' [6]")
                    .hasMessageContaining("unknown: 'w.momentum' [6]")
                    .hasMessageContaining("HINT: it must come from the same kind of optimizer");
            CASE.assertIs("trace/0/m", optimizer.state().get("w.m"));
            step(weights, optimizer, 1);
        });
    }

    @Test
    void shouldKeepMomentumOverALoad() {
        Ranks.run(2, rank -> {
            List<double[]> results = new ArrayList<>();
            for (boolean moved : new boolean[] {false, true}) {
                Weights weights = weights(rank, DType.FLOAT64);
                SgdOptions options = SgdOptions.of(0.1).withMomentum(0.9);
                Optimizer optimizer = new SGD(weights, options);
                for (int i = 0; i < 4; i++) {
                    if (moved && i == 2) {
                        Optimizer next = new SGD(weights, options);
                        next.loadState(optimizer.state());
                        optimizer = next;
                    }
                    optimizer.clearGradients();
                    weights.gradient("w", CASE.tensor(CPU, DType.FLOAT64, "grads/" + i));
                    optimizer.step();
                }
                results.add(weights.value("w"));
            }
            assertThat(results.get(1)).isEqualTo(results.get(0));
        });
    }

    /** Adam's correction of the means depends on the steps of the parameter, not on those of the optimizer. */
    @Test
    void shouldKeepTheStepsOfEachParameter() {
        Ranks.run(2, rank -> {
            List<double[]> results = new ArrayList<>();
            for (boolean moved : new boolean[] {false, true}) {
                Weights weights = new Weights();
                weights.declare("early", Shape.of(6), rank.mesh(), Placement.shard(0));
                weights.declare("late", Shape.of(6), rank.mesh(), Placement.shard(0));
                weights.materialize(rank.backend(), DType.FLOAT64, 1);
                Optimizer optimizer = optimizer(weights);
                for (int i = 0; i < 5; i++) {
                    if (moved && i == 3) {
                        Optimizer next = optimizer(weights);
                        next.loadState(optimizer.state());
                        optimizer = next;
                    }
                    optimizer.clearGradients();
                    weights.gradient("early", CASE.tensor(CPU, DType.FLOAT64, "grads/" + i));
                    if (i >= 2) {
                        weights.gradient("late", CASE.tensor(CPU, DType.FLOAT64, "grads/" + i));
                    }
                    optimizer.step();
                }
                assertThat(optimizer.state().get("early.step").toLongs()).containsExactly(5);
                assertThat(optimizer.state().get("late.step").toLongs()).containsExactly(3);
                results.add(weights.value("early"));
                results.add(weights.value("late"));
            }
            assertThat(results.get(2)).isEqualTo(results.get(0));
            assertThat(results.get(3)).isEqualTo(results.get(1));
        });
    }
}
