package org.tp4j.examples.report;

import static org.tp4j.examples.report.Html.format;
import static org.tp4j.examples.report.Html.section;
import static org.tp4j.examples.report.Html.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CommunicationLog.Entry;
import org.tp4j.examples.cli.VersionProvider;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.Digits.Batch;
import org.tp4j.examples.mlp.Digits.Image;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.examples.mlp.MlpTraining;
import org.tp4j.examples.parity.ParityCheck;
import org.tp4j.examples.parity.TrainingDifference;
import org.tp4j.examples.result.RunInfo;
import org.tp4j.examples.result.TrainingResult;
import org.tp4j.planner.DryRun;
import org.tp4j.tensor.Shape;

/**
 * The report of a run: curves, misclassified images, shards, the plan, communication.
 *
 * @param info what was trained, on what
 * @param result losses, accuracies, speed
 * @param check the comparison with one rank, or null
 * @param parameters the shards of each parameter
 * @param test the held-out images
 * @param predicted the digit that the trained model predicts for each
 * @param step the collectives of one step, by phase
 * @param calls all collectives that rank 0 called during the training
 */
public record MlpReport(
        RunInfo info,
        TrainingResult result,
        @Nullable ParityCheck check,
        List<ParameterShards> parameters,
        Batch test,
        long[] predicted,
        Map<String, List<Entry>> step,
        List<Entry> calls) {
    private static final int MAX_IMAGES = 16;

    /** The whole page. */
    public String html() {
        return Html.page(
                "TP4J: MLP on " + info.ranks() + " ranks",
                header()
                        + tiles()
                        + new TrainingCurves(info, result, check).html()
                        + misclassified()
                        + parity()
                        + shards()
                        + plan()
                        + communication()
                        + settings());
    }

    private String header() {
        return format(
                "<header><h1>A tensor-parallel MLP learns handwritten digits</h1>\n<p>%s; %s. %,d images of 8&times;8"
                        + " pixels for training, %,d held out.</p></header>\n",
                text("Ranks: " + info.describeRanks()), text(info.device()), info.trainImages(), info.testImages());
    }

    private String tiles() {
        long mine = parameters.stream()
                .mapToLong(p -> p.regions().get(0).local().elements())
                .sum();
        return "<div class=\"tiles\">\n"
                + tile(format("%.2f %%", 100 * result.accuracy()), "accuracy on held-out images")
                + tile(format("%.4f", result.finalLoss()), "loss in the last epoch")
                + tile(
                        format("%d", info.ranks()),
                        info.launcher().equals("mpi") ? "ranks (processes)" : "ranks (threads)")
                + tile(format("%,.0f", result.samplesPerSecond()), "samples per second")
                + tile(format("%.1f s", result.seconds()), "training and evaluation")
                + tile(format("%,d", mine), format("of %,d parameters on rank 0", info.parameters()))
                + "</div>\n";
    }

    private static String tile(String value, String label) {
        return "<div class=\"tile\"><b>" + text(value) + "</b><span>" + text(label) + "</span></div>\n";
    }

    private String misclassified() {
        StringBuilder html = new StringBuilder("<div class=\"images\">\n");
        int count = 0;
        for (int i = 0; i < test.size(); i++) {
            Image image = test.images().get(i);
            if (image.label() != predicted[i] && count++ < MAX_IMAGES) {
                html.append(DigitImage.figure(image.pixels(), image.label() + ", predicted " + predicted[i]));
            }
        }
        String lead = count == 0
                ? "None."
                : count + " of " + test.size() + (count > MAX_IMAGES ? "; the first " + MAX_IMAGES + ":" : ":");
        return section("Misclassified images", lead, count == 0 ? "" : html + "</div>\n");
    }

    private String parity() {
        if (check == null) {
            return "";
        }
        String verdict = check.passed()
                ? "<span class=\"good\">equal up to rounding</span>"
                : "<span class=\"bad\">different</span>";
        List<List<String>> rows = new ArrayList<>();
        addRows(rows, check.asTrained());
        if (check.inFloat64() != null) {
            addRows(rows, check.inFloat64());
        }
        String lead = info.ranks() + " ranks and one rank are " + verdict
                + (check.inFloat64() == null
                        ? "."
                        : "; differences exceeded their bounds, so both trained one epoch in float64, which tells rounding from bugs.");
        return section(
                "Compared with one rank",
                lead,
                Html.table(List.of("difference in", "type", "#largest difference", "#bound"), rows));
    }

    private static void addRows(List<List<String>> rows, TrainingDifference difference) {
        String type = text(difference.dtype());
        rows.add(List.of(
                "loss of a step", type, format("%.2e", difference.loss()), format("%.0e", difference.lossBound())));
        rows.add(List.of(
                "trained parameter <code>" + text(difference.worstParameter()) + "</code>",
                type,
                format("%.2e", difference.parameter()),
                format("%.0e", difference.parameterBound())));
    }

    private String shards() {
        ShardDiagram diagram = new ShardDiagram(parameters, info.ranks());
        BlockDiagram block = new BlockDiagram(
                find("blocks.0.up_proj.weight"),
                find("blocks.0.down_proj.weight"),
                info.ranks(),
                info.settings().batch());
        return section(
                "Which rank holds what",
                "Drawn to scale; weights are [out, in]. The up projection is sharded by rows, so that each rank computes its own"
                        + " hidden features, and the down projection by the matching columns.",
                diagram.legend() + diagram.html() + "<h3 class=\"later\">One block on all ranks</h3>\n" + block.html());
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
        DryRun run = DryRun.on("tp", info.ranks(), Shape.of(info.settings().batch(), Digits.PIXELS))
                .withType(info.settings().dtype());
        Object table = run.describe(
                () -> new MlpTraining.Classifier(
                        info.settings().hidden(), info.settings().dropout()),
                MlpTraining.PLAN);
        return section(
                "The plan",
                "This map from module names to styles shards the model; every rank holds all other modules whole. Below"
                        + " is the output of <code>DryRun.describe</code>, which allocates nothing.",
                code + "<pre>" + text(table) + "</pre>\n");
    }

    private String communication() {
        return section(
                "Communication",
                "Every collective of one training step on rank 0. In the forward pass, g sums the partial outputs of each"
                        + " block; in the backward pass, f sums the gradients of its input.",
                CommunicationTable.ofStep(step)
                        + "<h3 class=\"later\">The whole training</h3>\n<p class=\"lead\">"
                        + format("%,d calls", calls.size())
                        + "; they include the comparisons of data and gradients over the ranks in the first step, and the"
                        + " evaluation."
                        + "</p>\n"
                        + CommunicationTable.totals(calls));
    }

    private String settings() {
        MlpSettings s = info.settings();
        List<List<String>> rows = List.of(
                List.of(
                        "training",
                        format(
                                "%d epochs, batches of %d, AdamW, learning rate %s with warm-up and cosine decay, dropout %s",
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
        return section("Settings", "", Html.table(List.of("setting", "value"), rows));
    }
}
