package org.tp4j.examples.mlp;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.section;
import static org.tp4j.examples.report.Html.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CommunicationLog.Entry;
import org.tp4j.examples.cli.VersionProvider;
import org.tp4j.examples.mlp.Digits.Batch;
import org.tp4j.examples.mlp.Digits.Image;
import org.tp4j.examples.report.CommunicationTable;
import org.tp4j.examples.report.Html;
import org.tp4j.examples.report.LineChart;
import org.tp4j.examples.report.LineChart.Series;
import org.tp4j.examples.report.ParameterShards;
import org.tp4j.examples.report.PixelPicture;
import org.tp4j.examples.report.ShardPicture;
import org.tp4j.examples.report.ValueAxis;
import org.tp4j.planner.DryRun;
import org.tp4j.tensor.Shape;

/**
 * A run as a page: how it went, who holds what, what was communicated.
 *
 * @param facts what was run
 * @param result how it went
 * @param check one rank beside it, if that was asked for
 * @param parameters where each parameter lies
 * @param test the images held out
 * @param predicted the digits that the trained model takes them for
 * @param step what one step communicates, by phase
 * @param calls all that rank 0 communicated during the training
 */
record MlpReport(
        RunFacts facts,
        TrainingResult result,
        @Nullable ParityCheck check,
        List<ParameterShards> parameters,
        Batch test,
        long[] predicted,
        Map<String, List<Entry>> step,
        List<Entry> calls) {
    private static final int MOST_MISSES = 16;

    String html() {
        return Html.page(
                "TP4J: MLP on " + facts.ranks() + " ranks",
                header()
                        + tiles()
                        + curves()
                        + misses()
                        + parity()
                        + holdings()
                        + plan()
                        + communication()
                        + environment());
    }

    private String header() {
        return format(
                "<header><h1>A tensor-parallel MLP learns handwritten digits</h1>\n<p>%s; %s. %,d images of 8&times;8"
                        + " pixels to learn from, %,d held out.</p></header>\n",
                text("Ranks: " + facts.ranksInWords()), text(facts.device()), facts.trainImages(), facts.testImages());
    }

    private String tiles() {
        long mine = parameters.stream()
                .mapToLong(p -> p.parts().get(0).local().elements())
                .sum();
        return "<div class=\"tiles\">\n"
                + tile(format("%.2f %%", 100 * result.accuracy()), "accuracy on held-out images")
                + tile(format("%.4f", result.finalLoss()), "loss in the last epoch")
                + tile(
                        format("%d", facts.ranks()),
                        facts.launcher().equals("mpi") ? "ranks, processes" : "ranks, threads")
                + tile(format("%,.0f", result.samplesPerSecond()), "samples a second")
                + tile(format("%.1f s", result.seconds()), "training and measuring")
                + tile(format("%,d", mine), format("of %,d parameters on rank 0", facts.parameters()))
                + "</div>\n";
    }

    private static String tile(String value, String words) {
        return "<div class=\"tile\"><b>" + text(value) + "</b><span>" + text(words) + "</span></div>\n";
    }

    private String curves() {
        String lead = check == null
                ? "The curves do not depend on the number of ranks: weights, dropout masks and batches are the same for"
                        + " each, and what is left is rounding."
                : "The dashed lines are one rank that trained the same beside it.";
        return section("How it went", lead, "<div class=\"charts\">\n" + losses() + accuracies() + "</div>\n");
    }

    private String losses() {
        List<Series> lines = new ArrayList<>();
        lines.add(new Series("each step", "faint", stepPlaces(), numbers(result.stepLosses()), false));
        lines.add(new Series("mean of an epoch", "main", epochPlaces(), numbers(result.losses()), true));
        if (check != null) {
            lines.add(new Series(
                    "T = 1", "dashed", epochPlaces(), numbers(check.alone().losses()), false));
        }
        double smallest = Math.min(Collections.min(result.stepLosses()), Collections.min(result.losses()));
        double largest = Collections.max(result.stepLosses());
        return new LineChart("Training loss", "epoch", ValueAxis.powersOfTen(Math.max(smallest, 1e-6), largest), lines)
                .html();
    }

    private String accuracies() {
        List<Double> values = accuracies(result);
        List<Series> lines = new ArrayList<>();
        lines.add(new Series("T = " + facts.ranks(), "main", epochPlaces(), numbers(values), true));
        if (check != null) {
            lines.add(new Series("T = 1", "dashed", epochPlaces(), numbers(accuracies(check.alone())), false));
        }
        double low = Math.floor(Math.min(Collections.min(values), 0.98) * 20 - 0.2) / 20;
        return new LineChart("Accuracy on held-out images", "epoch", ValueAxis.linear(Math.max(0, low), 1), lines)
                .html();
    }

    private static List<Double> accuracies(TrainingResult of) {
        return of.epochs().stream().map(TrainingResult.Epoch::accuracy).toList();
    }

    private double[] epochPlaces() {
        return result.epochs().stream()
                .mapToDouble(TrainingResult.Epoch::number)
                .toArray();
    }

    private double[] stepPlaces() {
        double[] places = new double[result.stepLosses().size()];
        for (int i = 0; i < places.length; i++) {
            places[i] = (i + 1.0) * result.epochs().size() / places.length;
        }
        return places;
    }

    private static double[] numbers(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private String misses() {
        StringBuilder html = new StringBuilder("<div class=\"images\">\n");
        int misses = 0;
        for (int i = 0; i < test.size(); i++) {
            Image image = test.images().get(i);
            if (image.label() != predicted[i] && misses++ < MOST_MISSES) {
                html.append(PixelPicture.figure(image.pixels(), image.label() + ", taken for " + predicted[i]));
            }
        }
        String lead = misses == 0
                ? "None."
                : misses + " of " + test.size() + (misses > MOST_MISSES ? "; the first " + MOST_MISSES + ":" : ":");
        return section("The images it got wrong", lead, misses == 0 ? "" : html + "</div>\n");
    }

    private String parity() {
        if (check == null) {
            return "";
        }
        String verdict = check.passed()
                ? "<span class=\"good\">equal up to rounding</span>"
                : "<span class=\"bad\">different</span>";
        List<List<String>> rows = new ArrayList<>();
        addRows(rows, check.own());
        if (check.doubles() != null) {
            addRows(rows, check.doubles());
        }
        String lead = facts.ranks() + " ranks and one are " + verdict
                + (check.doubles() == null
                        ? "."
                        : "; differences had grown beyond their bounds, which an epoch in float64 tells from errors.");
        return section(
                "Against one rank",
                lead,
                Html.table(List.of("of every", "type", "#largest difference", "#bound"), rows));
    }

    private static void addRows(List<List<String>> rows, ParityCheck.Difference difference) {
        String type = text(difference.dtype());
        rows.add(List.of(
                "loss of a step", type, format("%.2e", difference.loss()), format("%.0e", difference.lossBound())));
        rows.add(List.of(
                "trained value, in <code>" + text(difference.worst()) + "</code>",
                type,
                format("%.2e", difference.parameter()),
                format("%.0e", difference.parameterBound())));
    }

    private String holdings() {
        ShardPicture picture = new ShardPicture(parameters, facts.ranks());
        BlockFlow flow = new BlockFlow(
                find("blocks.0.up_proj.weight"),
                find("blocks.0.down_proj.weight"),
                facts.ranks(),
                facts.settings().batch());
        return section(
                "Which rank holds what",
                "Drawn to scale; weights are [out, in]. The up projection is cut by rows, so that each rank computes hidden"
                        + " features of its own, and the down projection by the matching columns.",
                picture.legend() + picture.html() + "<h3 class=\"later\">One block, on all ranks</h3>\n" + flow.html());
    }

    private ParameterShards find(String name) {
        return parameters.stream()
                .filter(p -> p.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private String plan() {
        StringBuilder code = new StringBuilder("<pre>Parallelize.apply(model, mesh, Map.of(\n");
        List<String> lines = new ArrayList<>();
        new TreeMap<>(MlpTraining.PLAN)
                .descendingMap()
                .forEach((pattern, style) -> lines.add("    \"" + text(pattern) + "\", new "
                        + text(style.getClass().getSimpleName()) + "()"));
        code.append(String.join(",\n", lines)).append("));</pre>\n");
        DryRun run = DryRun.on("tp", facts.ranks(), Shape.of(facts.settings().batch(), Digits.PIXELS))
                .withType(facts.settings().dtype());
        Object table = run.describe(
                () -> new MlpTraining.Classifier(
                        facts.settings().hidden(), facts.settings().dropout()),
                MlpTraining.PLAN);
        return section(
                "The plan",
                "A map from module names to styles is all that splits the model; what it does not name is whole on every"
                        + " rank. Below, what <code>DryRun.describe</code> prints of it without allocating anything.",
                code + "<pre>" + text(table) + "</pre>\n");
    }

    private String communication() {
        return section(
                "Communication",
                "Every collective of one training step, as rank 0 called it. Forward, g sums the blocks' partial outputs;"
                        + " backward, f sums the gradients of their inputs; between them nothing moves.",
                CommunicationTable.ofStep(step)
                        + "<h3 class=\"later\">The whole training</h3>\n<p class=\"lead\">"
                        + format("%,d calls", calls.size())
                        + "; also the first comparisons of data and gradients over the ranks, and the forward passes that"
                        + " measured accuracy.</p>\n"
                        + CommunicationTable.totals(calls));
    }

    private String environment() {
        MlpSettings s = facts.settings();
        List<List<String>> rows = List.of(
                List.of(
                        "training",
                        format(
                                "%d epochs, batches of %d, AdamW, learning rate %s with warm-up and cosine, dropout %s",
                                s.epochs(), s.batch(), s.learningRate(), s.dropout())),
                List.of("hidden size", String.valueOf(s.hidden())),
                List.of("type", text(s.dtype())),
                List.of("seed", String.valueOf(s.seed())),
                List.of(
                        "software",
                        text("TP4J " + VersionProvider.version() + ", Java "
                                + System.getProperty("java.version") + " (" + System.getProperty("java.vm.name") + "), "
                                + System.getProperty("os.name") + " " + System.getProperty("os.arch"))),
                List.of(
                        "data",
                        "<cite>Optical Recognition of Handwritten Digits</cite>, E. Alpaydin, C. Kaynak, 1998, UCI"
                                + " Machine Learning Repository, CC BY 4.0"));
        return section("Settings", "", Html.table(List.of("what", "value"), rows));
    }
}
