package org.tp4j.tests.parity;

import static org.tp4j.tests.parity.Task.FEATURES;
import static org.tp4j.tests.parity.Task.NEXT_TOKEN;
import static org.tp4j.tests.parity.Task.REGRESSION;
import static org.tp4j.tests.parity.Task.VOCABULARY;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.ActivationLayer;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.GatedMlp;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Mlp;
import org.tp4j.nn.RmsNorm;
import org.tp4j.nn.Sequential;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.Tensor;

/** The rows of the parity table. */
public final class Configurations {
    private static final long HIDDEN = 24;
    private static final double NORM_EPS = 1e-5;

    private static final Placement SEQUENCE = Placement.shard(1);
    private static final ParallelStyle COLUMN = new ColwiseParallel();
    private static final ParallelStyle ROW = new RowwiseParallel();
    private static final Map<String, ParallelStyle> MLP = Map.of("up_proj", COLUMN, "down_proj", ROW);
    private static final Map<String, ParallelStyle> GATED =
            Map.of("gate_proj", COLUMN, "up_proj", COLUMN, "down_proj", ROW);

    private Configurations() {}

    /** Every row. */
    public static List<Configuration> all() {
        return List.of(
                new Configuration("MLP, bias", REGRESSION, () -> mlp(HIDDEN, true), MLP),
                new Configuration("MLP, no bias", REGRESSION, () -> mlp(HIDDEN, false), MLP),
                new Configuration("SwiGLU, bias", REGRESSION, () -> swiGlu(HIDDEN, true), GATED),
                new Configuration("SwiGLU, no bias", REGRESSION, () -> swiGlu(HIDDEN, false), GATED),
                new Configuration("MLP, hidden size 7", REGRESSION, () -> mlp(7, true), MLP),
                new Configuration("SwiGLU, hidden size 7", REGRESSION, () -> swiGlu(7, true), GATED),
                new Configuration("MLP, hidden size 2", REGRESSION, () -> mlp(2, true), MLP),
                new Configuration(
                        "norm, MLP",
                        REGRESSION,
                        () -> new Sequential(new LayerNorm(FEATURES, NORM_EPS), mlp(HIDDEN, true)),
                        Map.of("1.up_proj", COLUMN, "1.down_proj", ROW)),
                new Configuration(
                        "norm, MLP, sequence-parallel",
                        REGRESSION,
                        () -> new Sequential(new LayerNorm(FEATURES, NORM_EPS), mlp(HIDDEN, true)),
                        Map.of(
                                "0", new SequenceParallel(),
                                "1.up_proj", new ColwiseParallel().withInput(SEQUENCE),
                                "1.down_proj", new RowwiseParallel().withOutput(SEQUENCE))),
                new Configuration(
                        "norm, SwiGLU, sequence-parallel",
                        REGRESSION,
                        () -> new Sequential(new RmsNorm(FEATURES, NORM_EPS), swiGlu(HIDDEN, false)),
                        Map.of(
                                "0", new SequenceParallel(),
                                "1.gate_proj", new ColwiseParallel().withInput(SEQUENCE),
                                "1.up_proj", new ColwiseParallel().withInput(SEQUENCE),
                                "1.down_proj", new RowwiseParallel().withOutput(SEQUENCE))),
                new Configuration(
                        "column-parallel, gathered output",
                        REGRESSION,
                        () -> new Sequential(new Linear(FEATURES, FEATURES, true), mlp(HIDDEN, true)),
                        Map.of(
                                "0", new ColwiseParallel().withOutput(Placement.invariant()),
                                "1.up_proj", COLUMN,
                                "1.down_proj", ROW)),
                new Configuration(
                        "dropout inside and after",
                        REGRESSION,
                        () -> new Sequential(
                                new Linear(FEATURES, HIDDEN, true),
                                new ActivationLayer(Tensor::gelu),
                                new Dropout(0.25),
                                new Linear(HIDDEN, FEATURES, true),
                                new Dropout(0.25)),
                        Map.of("0", COLUMN, "3", ROW)),
                new Configuration(
                        "dropout, sequence-parallel",
                        REGRESSION,
                        () -> new Sequential(
                                new LayerNorm(FEATURES, NORM_EPS),
                                new Dropout(0.25),
                                mlp(HIDDEN, true),
                                new Dropout(0.25)),
                        Map.of(
                                "0", new SequenceParallel(),
                                "2.up_proj", new ColwiseParallel().withInput(SEQUENCE),
                                "2.down_proj", new RowwiseParallel().withOutput(SEQUENCE))),
                new Configuration(
                        "embedding, tied head, cross entropy",
                        NEXT_TOKEN,
                        () -> new TiedModel(VOCABULARY, FEATURES),
                        Map.of(
                                "embedding", ROW,
                                "mlp.up_proj", COLUMN,
                                "mlp.down_proj", ROW,
                                "head", new ColwiseParallel().withOutput(Placement.invariant()))));
    }

    private static Mlp mlp(long hidden, boolean bias) {
        return new Mlp(FEATURES, hidden, Activation.GELU_TANH, bias);
    }

    private static GatedMlp swiGlu(long hidden, boolean bias) {
        return new GatedMlp(FEATURES, hidden, Activation.SILU, bias);
    }
}
