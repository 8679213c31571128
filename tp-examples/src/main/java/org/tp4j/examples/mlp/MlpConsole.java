package org.tp4j.examples.mlp;

import static org.tp4j.examples.report.Html.format;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.tp4j.examples.cli.Terminal;
import org.tp4j.examples.report.ParameterShards;
import org.tp4j.parallel.ParallelStyle;

/** What rank 0 tells its reader: what runs, who holds what, how it goes. */
final class MlpConsole implements TrainingListener, AutoCloseable {
    private final PrintStream out;
    private final ProgressLine line;
    private final ProgressBar bar;
    private final int epochs;

    /** Begins to watch a training of so many steps. */
    MlpConsole(PrintStream out, PrintStream err, String title, long steps, int epochs) {
        this.out = out;
        this.epochs = epochs;
        boolean interactive = Terminal.isInteractive();
        line = new ProgressLine(interactive ? out : err, interactive);
        bar = new ProgressBarBuilder()
                .setTaskName(title)
                .setInitialMax(steps)
                .setStyle(Terminal.canShow("█▏│") ? ProgressBarStyle.UNICODE_BLOCK : ProgressBarStyle.ASCII)
                .setUpdateIntervalMillis(interactive ? 100 : 2000)
                .setConsumer(line)
                .setUnit(" steps", 1)
                .build();
    }

    /** What runs. */
    static void introduce(PrintStream out, RunFacts facts) {
        MlpSettings s = facts.settings();
        out.println();
        out.println("TP4J: a Megatron-style MLP learns handwritten digits");
        out.println();
        row(out, "ranks", facts.ranksInWords() + ", " + facts.device());
        row(out, "images", format("%,d to learn from, %,d held out", facts.trainImages(), facts.testImages()));
        row(
                out,
                "model",
                format(
                        "%d pixels -> 2 blocks of %d -> %,d -> %d -> 10 digits; %,d parameters, %s",
                        Digits.PIXELS,
                        MlpSettings.WIDTH,
                        s.hidden(),
                        MlpSettings.WIDTH,
                        facts.parameters(),
                        s.dtype()));
        row(
                out,
                "training",
                format(
                        "%d epochs of %d steps of %d images; AdamW, learning rate %s by cosine, dropout %s, seed %d",
                        s.epochs(),
                        s.steps(facts.trainImages()) / s.epochs(),
                        s.batch(),
                        s.learningRate(),
                        s.dropout(),
                        s.seed()));
        out.println();
    }

    private static void row(PrintStream out, String name, String words) {
        out.println(format("  %-10s%s", name, words));
    }

    /** Who holds what. */
    static void showPlan(PrintStream out, List<ParameterShards> parameters, Map<String, ParallelStyle> plan) {
        Map<String, List<ParameterShards>> modules = ParameterShards.byPattern(parameters);
        String row = "  %-20s%-17s%-10s%-11s%-12s%s";
        out.println(format(row, "plan", "style", "parameter", "shape", "placement", "ranks hold"));
        new TreeMap<>(plan).descendingMap().forEach((pattern, style) -> {
            String first = pattern;
            for (ParameterShards p : modules.getOrDefault(pattern, List.of())) {
                out.println(format(
                        row,
                        first,
                        first.isEmpty() ? "" : style.getClass().getSimpleName(),
                        p.ownName(),
                        p.shape(),
                        p.placement(),
                        held(p)));
                first = "";
            }
        });
        out.println(format(row, "everything else", "", "", "", "Invariant", "all"));
        out.println();
    }

    private static String held(ParameterShards p) {
        if (p.cutDim() < 0) {
            return "all";
        }
        int most = 4;
        String text = IntStream.range(0, Math.min(most, p.parts().size()))
                .mapToObj(p::held)
                .collect(Collectors.joining(", "));
        String noun = text.substring(0, text.indexOf(' ') + 1);
        return noun + text.replace(noun, "") + (p.parts().size() > most ? ", ..." : "");
    }

    @Override
    public void step(double loss) {
        bar.step();
    }

    @Override
    public void epoch(TrainingResult.Epoch epoch) {
        line.print(
                out,
                format(
                        "  epoch %2d/%d   loss %.4f   test accuracy %.4f   %,8.0f samples/s",
                        epoch.number(), epochs, epoch.loss(), epoch.accuracy(), epoch.samplesPerSecond()));
    }

    @Override
    public void close() {
        bar.close();
    }
}
