package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.checkpoint.ModelFiles;
import org.tp4j.comm.Alone;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.DisagreementException;
import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.Layer;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Sequential;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** Ranks that disagree are told, by default; ranks that do not are left alone. */
class AgreementTest {
    private static final int STEPS = 12;
    private static final int FROM = 5;

    /** A training loop in which one rank may do something else from a step on. */
    private static class Program {
        long hidden(Rank rank) {
            return 8;
        }

        long seed(Rank rank) {
            return 1;
        }

        double rate(Rank rank) {
            return 0.1;
        }

        double data(Rank rank, int step) {
            return 1 + step;
        }

        Tensor loss(Rank rank, int step, Tensor y) {
            return y.square().mean();
        }

        void beforeStep(Rank rank, int step, Layer model) {}

        void afterBackward(Rank rank, int step, Layer model) {}

        void afterwards(Rank rank, Layer model) {}

        final void run(Rank rank) {
            long hidden = hidden(rank);
            Layer model = new Sequential(new Linear(4, hidden, true), new Dropout(0.1), new Linear(hidden, 2, true));
            Parallelize.apply(model, rank.mesh(), Map.of("0", new ColwiseParallel(), "2", new RowwiseParallel()));
            model.materialize(rank.backend(), DType.FLOAT32, seed(rank));
            Optimizer optimizer = new SGD(model, rate(rank));
            for (int step = 0; step < STEPS; step++) {
                try (Scope scope = Scope.open()) {
                    optimizer.clearGradients();
                    beforeStep(rank, step, model);
                    float[] values = new float[12];
                    java.util.Arrays.fill(values, (float) data(rank, step));
                    Tensor x = Tensors.of(rank.backend(), values, 3, 4);
                    Tensor loss = loss(rank, step, model.apply(x));
                    loss.backward();
                    afterBackward(rank, step, model);
                    optimizer.step();
                }
            }
            afterwards(rank, model);
        }
    }

    private static boolean odd(Rank rank, int step) {
        return rank.number() == 1 && step >= FROM;
    }

    private static void assertTold(int ranks, Program program, String... words) {
        assertThatThrownBy(() -> Ranks.run(ranks, program::run))
                .isInstanceOf(DisagreementException.class)
                .satisfies(e -> {
                    for (String word : words) {
                        assertThat(e.getMessage()).contains(word);
                    }
                });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldLeaveAgreeingRanksAlone(int ranks) {
        Ranks.run(ranks, new Program()::run);
    }

    @Test
    void shouldTellAnotherNumberInTheLoss() {
        assertTold(
                2,
                new Program() {
                    @Override
                    Tensor loss(Rank rank, int step, Tensor y) {
                        return y.square().mean().mul(odd(rank, step) ? 0.6 : 0.5);
                    }
                },
                "ranks 0 and 1 disagree in step " + (FROM + 1),
                "0.5",
                "0.6",
                "HINT");
    }

    @Test
    void shouldTellTrainingHereAndEvaluationThere() {
        assertTold(
                2,
                new Program() {
                    @Override
                    void beforeStep(Rank rank, int step, Layer model) {
                        model.train(!odd(rank, step));
                    }
                },
                "dropout",
                "in module '1'");
    }

    @Test
    void shouldTellAnotherLearningRate() {
        assertTold(
                3,
                new Program() {
                    @Override
                    double rate(Rank rank) {
                        return rank.number() == 2 ? 0.2 : 0.1;
                    }
                },
                "ranks 0 and 2",
                "learning rate",
                "0.1",
                "0.2");
    }

    @Test
    void shouldTellAnotherRandomStream() {
        assertTold(
                2,
                new Program() {
                    @Override
                    void beforeStep(Rank rank, int step, Layer model) {
                        model.beginStep(odd(rank, step) ? step + 1 : step);
                    }
                },
                "dropout(p=0.1",
                "stream=");
    }

    @Test
    void shouldTellOtherDataFromAStepOn() {
        assertTold(
                2,
                new Program() {
                    @Override
                    double data(Rank rank, int step) {
                        return odd(rank, step) ? 100 : 1;
                    }
                },
                "plain tensor float32[3, 4]",
                "differs in its content");
    }

    @Test
    void shouldTellANanOnOneRank() {
        assertTold(
                2,
                new Program() {
                    @Override
                    double data(Rank rank, int step) {
                        return odd(rank, step) ? Double.NaN : 1;
                    }
                },
                "differs in its content");
    }

    @Test
    void shouldTellAnotherHiddenSize() {
        assertTold(
                2,
                new Program() {
                    @Override
                    long hidden(Rank rank) {
                        return rank.number() == 0 ? 8 : 4;
                    }
                },
                "parameter '0.",
                "[8",
                "[4");
    }

    @Test
    void shouldTellAnotherSeed() {
        assertTold(
                4,
                new Program() {
                    @Override
                    long seed(Rank rank) {
                        return rank.number() == 3 ? 2 : 1;
                    }
                },
                "ranks 0 and 3 disagree before the first step",
                "seed 1",
                "seed 2");
    }

    @Test
    void shouldTellAGradientThatOneRankLacks() {
        assertTold(
                2,
                new Program() {
                    @Override
                    void afterBackward(Rank rank, int step, Layer model) {
                        if (odd(rank, step)) {
                            model.parameters().get("0.bias").tensor().clearGrad();
                        }
                    }
                },
                "gradient of parameter '0.bias'");
    }

    @Test
    void shouldTellParametersThatHaveComeApart() {
        assertTold(
                2,
                new Program() {
                    @Override
                    void beforeStep(Rank rank, int step, Layer model) {
                        if (rank.number() == 1 && step == 2) {
                            NdArray bias =
                                    model.parameters().get("2.bias").tensor().local();
                            bias.backend().elementwise().fill(bias, 7);
                        }
                    }
                },
                "values of parameter '2.bias'");
    }

    @Test
    void shouldTellUnequalTensorsDeclaredAsWhole() {
        assertThatThrownBy(() -> Ranks.run(2, rank -> {
                    Tensor mine = Tensors.of(rank.backend(), new float[] {rank.number()}, 1);
                    DTensors.fromLocal(mine, rank.mesh(), Placement.replicate());
                }))
                .isInstanceOf(DisagreementException.class)
                .hasMessageContaining("tensor float32[1], which is whole on mesh axis 'tp', differs in its content");
    }

    @Test
    void shouldNotCompareWhatOneRankDoesAlone() {
        Ranks.run(2, rank -> {
            DTensor x = DTensors.distribute(
                    Tensors.of(rank.backend(), new float[] {1, 2}, 2).requiresGrad(true),
                    rank.mesh(),
                    Placement.replicate());
            if (rank.number() == 0) {
                Alone.run(() -> {
                    assertThat(x.detach().mul(3).local().elements()).isEqualTo(2);
                    x.mul(3).sum();
                });
                NdArray one = NdArray.full(rank.backend(), DType.FLOAT32, Shape.of(1), 1);
                assertThatThrownBy(() -> Alone.run(() -> rank.world().group().allReduce(one, one, ReduceOp.SUM)))
                        .isInstanceOf(CommunicationException.class)
                        .hasMessageContaining("allReduce on group 'world' within Alone.run(...)")
                        .hasMessageContaining("HINT");
            }
        });
    }

    @Test
    void shouldNotSaveWhatRanksDisagreeOn(@TempDir Path folder) {
        Path file = folder.resolve("model.safetensors");
        assertTold(
                2,
                new Program() {
                    @Override
                    Tensor loss(Rank rank, int step, Tensor y) {
                        boolean last = rank.number() == 1 && step == STEPS - 1;
                        return y.square().mean().mul(last ? 2 : 1);
                    }

                    @Override
                    void afterwards(Rank rank, Layer model) {
                        ModelFiles.save(model, file);
                    }
                },
                "in step " + STEPS);
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldCompareOthersWithARankThatLeftBeforeThem() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        Ranks.run(2, rank -> {
            new Program().run(rank);
            if (rank.number() == 1) {
                left.await(1, TimeUnit.SECONDS); // the other waits for nobody
            } else {
                left.countDown();
            }
        });
    }
}
