package org.tp4j.tests.optim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.layout.Placement;
import org.tp4j.optim.Adam;
import org.tp4j.optim.AdamOptions;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.NormType;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.Cases;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;

/** Ten steps, and one clipping, as PyTorch takes them, however the parameters are cut. */
class OptimizerGoldenTest {
    static List<Arguments> runs(List<String> names) {
        List<Arguments> runs = new ArrayList<>();
        for (String name : names) {
            for (int ranks = 1; ranks <= 4; ranks++) {
                runs.add(Arguments.of(name, ranks, Placement.shard(0), Placement.shard(0)));
                runs.add(Arguments.of(name, ranks, Placement.shard(1), Placement.invariant()));
                runs.add(Arguments.of(name, ranks, Placement.invariant(), Placement.shard(0)));
            }
        }
        return runs;
    }

    static List<Arguments> optimizers() {
        return runs(List.of("opt_sgd", "opt_sgd_momentum", "opt_sgd_nesterov", "opt_adam", "opt_adamw"));
    }

    static List<Arguments> clippings() {
        return runs(List.of("clip_norm_1", "clip_norm_2", "clip_norm_inf"));
    }

    private static Weights weights(Rank rank, Placement matrix, Placement vector) {
        Weights weights = new Weights();
        weights.declare("p0", Shape.of(4, 6), rank.mesh(), matrix);
        weights.declare("p1", Shape.of(6), rank.mesh(), vector);
        weights.materialize(rank.backend(), DType.FLOAT32, 1);
        return weights;
    }

    private static Optimizer optimizer(Golden golden, String name, Weights weights) {
        double rate = golden.number("lr", Double.NaN);
        double decay = golden.number("weight_decay", 0);
        if (name.startsWith("opt_sgd")) {
            double momentum = golden.number("momentum", 0);
            boolean nesterov = golden.setting("nesterov").asBoolean();
            SgdOptions options = SgdOptions.of(rate).withWeightDecay(decay).withMomentum(momentum);
            return new SGD(weights, nesterov ? options.withNesterov(momentum) : options);
        }
        AdamOptions options = Adam.options()
                .learningRate(rate)
                .betas(
                        golden.setting("betas").get(0).asDouble(),
                        golden.setting("betas").get(1).asDouble())
                .eps(golden.number("eps", Double.NaN))
                .weightDecay(decay)
                .build();
        return name.equals("opt_adam") ? new Adam(weights, options) : new AdamW(weights, options);
    }

    @ParameterizedTest(name = "{0} on {1} ranks, {2} and {3}")
    @MethodSource("optimizers")
    void shouldTakeTheStepsOfTheReference(String name, int ranks, Placement matrix, Placement vector) {
        Ranks.run(ranks, rank -> {
            try (Golden golden = new Golden(name)) {
                Weights weights = weights(rank, matrix, vector);
                weights.loadState(Map.of(
                        "p0", golden.tensor(rank.backend(), "p0.init"),
                        "p1", golden.tensor(rank.backend(), "p1.init")));
                Optimizer optimizer = optimizer(golden, name, weights);
                for (int step = 0; step < 10; step++) {
                    optimizer.clearGradients();
                    for (String p : List.of("p0", "p1")) {
                        weights.gradient(p, golden.tensor(rank.backend(), p + ".grad." + step));
                    }
                    optimizer.step();
                    for (String p : List.of("p0", "p1")) {
                        assertIs(golden, rank, p + ".after." + step, weights.value(p));
                    }
                }
            }
        });
    }

    @ParameterizedTest(name = "{0} on {1} ranks, {2} and {3}")
    @MethodSource("clippings")
    void shouldClipAsTheReference(String name, int ranks, Placement matrix, Placement vector) {
        Ranks.run(ranks, rank -> {
            try (Golden golden = new Golden(name)) {
                Weights weights = weights(rank, matrix, vector);
                for (String p : List.of("p0", "p1")) {
                    weights.gradient(p, golden.tensor(rank.backend(), p + ".grad"));
                }
                String p = golden.setting("norm_type").asText();
                NormType type = NormType.of(p.equals("inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(p));
                double norm = GradientClipping.byNorm(
                        weights.parameters().values(), golden.number("max_norm", Double.NaN), type);
                assertIs(golden, rank, "norm", new double[] {norm});
                assertIs(golden, rank, "p0.clipped", weights.gradient("p0"));
                assertIs(golden, rank, "p1.clipped", weights.gradient("p1"));
            }
        });
    }

    private static void assertIs(Golden golden, Rank rank, String tensor, double[] actual) {
        double[] expected = golden.tensor(rank.backend(), tensor).toDoubles();
        Cases.assertClose(tensor, actual, expected, DType.FLOAT32);
    }
}
