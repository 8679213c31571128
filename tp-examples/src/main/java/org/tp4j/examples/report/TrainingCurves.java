package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.section;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.tp4j.examples.parity.ParityCheck;
import org.tp4j.examples.report.LineChart.Series;
import org.tp4j.examples.result.RunInfo;
import org.tp4j.examples.result.TrainingResult;

/**
 * Loss and accuracy over the epochs, with those of one rank if there was a parity check.
 *
 * @param info what was trained, on what
 * @param result losses and accuracies
 * @param check the comparison with one rank, or null
 */
record TrainingCurves(
        RunInfo info, TrainingResult result, @Nullable ParityCheck check) {
    private static final double MIN_LOSS = 1e-6; // on the logarithmic axis

    String html() {
        String introduction = check == null
                ? "The curves do not depend on the number of ranks, up to rounding: weights, dropout masks and batches are"
                        + " the same."
                : "The dashed lines are the same training on one rank.";
        return section("Training", introduction, "<div class=\"charts\">\n" + losses() + accuracies() + "</div>\n");
    }

    private String losses() {
        List<Series> lines = new ArrayList<>();
        lines.add(new Series("each step", "faint", stepPositions(), toArray(result.stepLosses()), false));
        lines.add(new Series("mean per epoch", "main", epochNumbers(), toArray(result.losses()), true));
        if (check != null) {
            double[] losses = toArray(check.singleRank().losses());
            lines.add(new Series("T = 1", "dashed", epochNumbers(), losses, false));
        }
        double smallest = Math.min(Collections.min(result.stepLosses()), Collections.min(result.losses()));
        double largest = Collections.max(result.stepLosses());
        ValueAxis axis = ValueAxis.powersOfTen(Math.max(smallest, MIN_LOSS), largest);
        return new LineChart("Training loss", "epoch", axis, lines).html();
    }

    private String accuracies() {
        List<Double> values = result.accuracies();
        List<Series> lines = new ArrayList<>();
        lines.add(new Series("T = " + info.ranks(), "main", epochNumbers(), toArray(values), true));
        if (check != null) {
            double[] accuracies = toArray(check.singleRank().accuracies());
            lines.add(new Series("T = 1", "dashed", epochNumbers(), accuracies, false));
        }
        double low = Math.floor(Math.min(Collections.min(values), 0.98) * 20 - 0.2) / 20;
        ValueAxis axis = ValueAxis.linear(Math.max(0, low), 1);
        return new LineChart("Accuracy on held-out images", "epoch", axis, lines).html();
    }

    private double[] epochNumbers() {
        return result.epochs().stream()
                .mapToDouble(TrainingResult.Epoch::number)
                .toArray();
    }

    /** The end of each step, in epochs. */
    private double[] stepPositions() {
        double[] positions = new double[result.stepLosses().size()];
        for (int i = 0; i < positions.length; i++) {
            positions[i] = (i + 1.0) * result.epochs().size() / positions.length;
        }
        return positions;
    }

    private static double[] toArray(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }
}
