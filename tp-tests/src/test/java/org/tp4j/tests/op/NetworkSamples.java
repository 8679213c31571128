package org.tp4j.tests.op;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.CrossEntropyOptions.Reduction;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.Whole;

/** Norms, embeddings and losses. */
final class NetworkSamples {
    private static final double EPS = 1e-5;

    private NetworkSamples() {}

    static void addTo(Catalogue all) {
        for (boolean weight : new boolean[] {true, false}) {
            for (boolean bias : new boolean[] {true, false}) {
                layerNorm(all, weight, bias);
            }
            String rms = "rmsNorm" + (weight ? " weight" : "");
            all.add(rms, draw -> {
                Shape shape = Draw.join(draw.shape(0, 2), draw.atLeastOne());
                List<Whole> operands = new ArrayList<>(List.of(draw.awayFromZero(shape)));
                if (weight) {
                    operands.add(draw.values(Shape.of(shape.size(-1))));
                }
                return new Sample(rms, operands, in -> in.get(0).rmsNorm(weight ? in.get(1) : null, EPS));
            });
        }
        for (boolean padding : new boolean[] {false, true}) {
            String name = "gatherRows" + (padding ? " padding" : "");
            all.add(name, draw -> {
                long rows = draw.atLeastOne();
                Whole table = draw.values(Shape.of(rows, draw.size()));
                Whole ids = draw.ids(draw.shape(0, 2), rows);
                long paddingId = draw.coin() ? draw.below((int) rows) : draw.below((int) rows) - rows;
                return new Sample(
                        name,
                        List.of(table, ids),
                        in -> padding
                                ? in.get(0).gatherRows(in.get(1), paddingId)
                                : in.get(0).gatherRows(in.get(1)));
            });
        }
        for (Reduction reduction : Reduction.values()) {
            for (double smoothing : new double[] {0, 0.1}) {
                crossEntropy(all, reduction, smoothing);
            }
        }
    }

    private static void layerNorm(Catalogue all, boolean weight, boolean bias) {
        String name = "layerNorm" + (weight ? " weight" : "") + (bias ? " bias" : "");
        all.add(name, draw -> {
            // rows of one or two elements normalise to constants, whose derivative is all rounding
            Shape shape = Draw.join(draw.shape(0, 2), 2 + draw.atLeastOne());
            List<Whole> operands = new ArrayList<>(List.of(draw.values(shape)));
            if (weight) {
                operands.add(draw.values(Shape.of(shape.size(-1))));
            }
            if (bias) {
                operands.add(draw.values(Shape.of(shape.size(-1))));
            }
            return new Sample(
                    name,
                    operands,
                    in -> in.get(0).layerNorm(weight ? in.get(1) : null, bias ? in.get(in.size() - 1) : null, EPS));
        });
    }

    private static void crossEntropy(Catalogue all, Reduction reduction, double smoothing) {
        String name = "crossEntropy " + reduction + (smoothing > 0 ? " smoothed" : "");
        all.add(name, draw -> {
            long classes = draw.atLeastOne();
            Shape rows = draw.shape(0, 2);
            Whole labels = draw.ids(rows, classes);
            boolean counted =
                    java.util.Arrays.stream(labels.elements()).anyMatch(label -> label != 0); // a mean of something
            long ignored = counted && draw.coin() ? 0 : CrossEntropyOptions.DEFAULT_IGNORE_INDEX;
            CrossEntropyOptions options = CrossEntropyOptions.DEFAULT
                    .withReduction(reduction)
                    .withIgnoreIndex(ignored)
                    .withLabelSmoothing(smoothing)
                    .withZLoss(draw.coin() ? 0.01 : 0);
            return new Sample(
                    name,
                    List.of(draw.values(Draw.join(rows, classes)), labels),
                    in -> in.get(0).crossEntropy(in.get(1), options));
        });
    }
}
