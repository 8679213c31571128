package org.tp4j.tests.cases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.CrossEntropyOptions.Reduction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/**
 * Cases A13 to A16: losses and arg-max of logits whose classes are sharded. The plain operations refuse with a hint;
 * following the hint gives the right result. Label smoothing is spread over all classes; the mean over no labels is 0.
 */
class LossCasesTest {
    private static final CrossEntropyOptions MEAN = CrossEntropyOptions.DEFAULT;

    private static DTensor byClasses(Rank rank, Cases a, DType dtype, String path) {
        DTensor logits = DTensors.distribute(a.tensor(rank.backend(), dtype, path), rank.mesh(), Placement.shard(1));
        logits.requiresGrad(true);
        return logits;
    }

    private static DTensor byRows(Rank rank, Cases a, DType dtype, String path) {
        DTensor logits = DTensors.distribute(a.tensor(rank.backend(), dtype, path), rank.mesh(), Placement.shard(0));
        logits.requiresGrad(true);
        return logits;
    }

    private static Tensor gathered(Rank rank, DTensor logits) {
        if (rank.count() > 1) {
            assertThatThrownBy(() -> logits.crossEntropy(
                            Tensors.of(rank.backend(), new long[(int) logits.size(0)], logits.size(0))))
                    .isInstanceOf(LayoutException.class)
                    .hasMessageContaining("cross_entropy")
                    .hasMessageContaining("works on dimension 1 as a whole, which is sharded")
                    .hasMessageContaining("HINT: redistribute operand 0 to Invariant on axis 'tp' first");
        }
        return logits.redistribute("tp", Placement.invariant());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldSmoothOverTheWholeVocabulary(int ranks) {
        Cases a = Cases.of("A13");
        Ranks.run(ranks, rank -> {
            CrossEntropyOptions smoothed = MEAN.withLabelSmoothing(a.number("smoothing"));
            for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
                Tensor labels = a.ids(rank.backend(), "labels");
                String all = "expected/uniform_over_all_classes/";
                DTensor logits = byClasses(rank, a, dtype, "logits");
                Tensor whole = gathered(rank, logits);
                a.assertIs(all + "loss_rows", whole.crossEntropy(labels, smoothed.withReduction(Reduction.NONE)));
                whole.crossEntropy(labels, smoothed).backward();
                a.assertIs(all + "grad_logits_of_mean", logits.grad());
                DTensor rows = byRows(rank, a, dtype, "logits");
                DTensor loss = (DTensor) rows.crossEntropy(labels, smoothed); // a pending sum
                loss.backward();
                a.assertIs(all + "grad_logits_of_mean", rows.grad());
                a.assertIs(all + "loss_mean", loss);
                DTensor wide = byClasses(rank, a, dtype, "wide/logits");
                Tensor wideLabels = a.ids(rank.backend(), "wide/labels");
                Tensor wideLoss = gathered(rank, wide).crossEntropy(wideLabels, smoothed);
                a.assertIs("wide/loss_mean", wideLoss);
                wideLoss.backward();
                a.assertIs("wide/grad_logits_of_mean", wide.grad());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldLeaveIgnoredLabelsOut(int ranks) {
        Cases a = Cases.of("A14");
        Ranks.run(ranks, rank -> {
            for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
                Tensor labels = a.ids(rank.backend(), "labels");
                DTensor rows = byRows(rank, a, dtype, "logits");
                a.assertIs("loss_rows", rows.crossEntropy(labels, MEAN.withReduction(Reduction.NONE)));
                a.assertIs("loss_sum", rows.crossEntropy(labels, MEAN.withReduction(Reduction.SUM)));
                DTensor mean = (DTensor) rows.crossEntropy(labels);
                a.assertIs("loss_mean", mean);
                mean.backward();
                a.assertIs("grad_logits_of_mean", rows.grad());
                Tensor none = a.ids(rank.backend(), "all_ignored/labels");
                DTensor ignored = byRows(rank, a, dtype, "logits");
                DTensor nothing = (DTensor) ignored.crossEntropy(none);
                assertThat(nothing.redistribute("tp", Placement.invariant()).item())
                        .isNaN();
                nothing.backward();
                assertThat(rank.value(ignored.grad())).containsOnly(0);
                DTensor classes = byClasses(rank, a, dtype, "logits");
                gathered(rank, classes)
                        .crossEntropy(labels, MEAN.withReduction(Reduction.SUM))
                        .backward();
                a.assertIs("grad_logits_of_sum", classes.grad());
            }
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldReportLabelsOutsideTheVocabulary(int ranks) {
        Cases a = Cases.of("A15");
        Ranks.run(ranks, rank -> {
            DTensor logits = byClasses(rank, a, DType.FLOAT64, "logits");
            Tensor whole = gathered(rank, logits);
            for (long bad : a.longs("bad_labels")) {
                Tensor label = Tensors.of(rank.backend(), new long[] {bad}, 1);
                assertThatThrownBy(() -> whole.crossEntropy(label))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("label " + bad + " at position [0] is outside 0 to 5")
                        .hasMessageContaining("not the ignored -100");
            }
            for (String good : List.of("0", "5")) {
                Tensor label = Tensors.of(rank.backend(), new long[] {Long.parseLong(good)}, 1);
                a.assertIs("good_loss/" + good, whole.crossEntropy(label));
            }
            Tensor ignored = Tensors.of(rank.backend(), new long[] {-100}, 1);
            assertThat(whole.crossEntropy(ignored).item()).isNaN();
            assertThat(whole.crossEntropy(ignored, MEAN.withReduction(Reduction.SUM))
                            .item())
                    .isZero();
            assertThat(logits.grad()).isNull();
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void shouldFindTheFirstOfTheLargestLogits(int ranks) {
        Cases a = Cases.of("A16");
        Ranks.run(ranks, rank -> {
            DTensor x = byClasses(rank, a, DType.FLOAT64, "x");
            if (ranks > 1) {
                assertThatThrownBy(() -> x.argmax(1))
                        .isInstanceOf(LayoutException.class)
                        .hasMessageContaining("argmax")
                        .hasMessageContaining("HINT: redistribute operand 0 to Invariant on axis 'tp' first");
            }
            Tensor whole = x.redistribute("tp", Placement.invariant());
            Tensor best = whole.argmax(1);
            assertThat(best.toLongs()).isEqualTo(a.longs("argmax_lowest_index"));
            assertThat(best.eq(a.ids(rank.backend(), "labels")).toLongs()).isEqualTo(a.longs("top1_correct"));
            a.assertIs("max_values", x.detach().max(false, 1));
        });
    }

    /** Over equal logits every loss is ln(classes), and so is their mean, however few labels count and wherever they are. */
    @ParameterizedTest
    @ValueSource(longs = {2, 0, -7, 99})
    void shouldCountWhatIsNotTheIgnoredLabel(long ignored) {
        int rows = 6;
        int classes = 3;
        long[] labels = {ignored, 1, ignored, ignored, 1, ignored};
        CrossEntropyOptions options = MEAN.withIgnoreIndex(ignored);
        List<List<Placement>> cuts = List.of(
                List.of(Placement.shard(0), Placement.invariant()),
                List.of(Placement.invariant(), Placement.shard(0)),
                List.of(Placement.replicate(), Placement.shard(0)),
                List.of(Placement.shard(0), Placement.shard(0)),
                List.of(Placement.invariant(), Placement.invariant()));
        Ranks.run(List.of(2, 2), rank -> {
            Tensor plain = Tensors.of(rank.backend(), new double[rows * classes], rows, classes);
            Tensor ids = Tensors.of(rank.backend(), labels, rows);
            for (List<Placement> placements : cuts) {
                DTensor logits = DTensors.distribute(plain, rank.mesh(), placements.toArray(new Placement[0]));
                logits.requiresGrad(true);
                Tensor loss = logits.crossEntropy(ids, options);
                assertThat(rank.value(loss)[0]).isCloseTo(Math.log(classes), within(1e-12));
                if (!placements.contains(Placement.replicate())) {
                    loss.backward();
                    double[] gradient = rank.value(logits.grad());
                    assertThat(gradient[0]).isZero();
                    assertThat(gradient[3]).isCloseTo(1.0 / 6, within(1e-12));
                    assertThat(gradient[4]).isCloseTo(-1.0 / 3, within(1e-12));
                }
            }
        });
    }
}
