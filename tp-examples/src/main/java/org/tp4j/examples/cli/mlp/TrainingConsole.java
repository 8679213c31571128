package org.tp4j.examples.cli.mlp;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.tp4j.examples.cli.Terminal;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.examples.parity.ParityCheck;
import org.tp4j.examples.parity.TrainingDifference;
import org.tp4j.examples.report.ParameterShards;
import org.tp4j.examples.result.RunInfo;
import org.tp4j.examples.result.TrainingRecorder.ProgressListener;
import org.tp4j.examples.result.TrainingResult;
import org.tp4j.parallel.ParallelStyle;

/** Prints a run on rank 0: settings, the plan with its shards, progress, results. */
final class TrainingConsole {
    private static final int MAX_SHARDS_SHOWN = 4;

    private final PrintStream out;
    private final PrintStream err;

    /**
     * A console.
     *
     * @param out for results
     * @param err for progress where {@code out} is not a terminal
     */
    TrainingConsole(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Prints what is about to be trained. */
    void printSettings(RunInfo info) {
        MlpSettings s = info.settings();
        out.println();
        out.println("TP4J: a Megatron-style MLP learns handwritten digits");
        out.println();
        printRow("ranks", info.describeRanks() + ", " + info.device());
        printRow("images", format("%,d for training, %,d held out", info.trainImages(), info.testImages()));
        printRow(
                "model",
                format(
                        "%d pixels -> 2 blocks of %d -> %,d -> %d -> 10 digits; %,d parameters, %s",
                        Digits.PIXELS, MlpSettings.WIDTH, s.hidden(), MlpSettings.WIDTH, info.parameters(), s.dtype()));
        printRow(
                "training",
                format(
                        "%d epochs of %d steps of %d images; AdamW, learning rate %s with cosine decay, dropout %s, seed %d",
                        s.epochs(),
                        s.steps(info.trainImages()) / s.epochs(),
                        s.batch(),
                        s.learningRate(),
                        s.dropout(),
                        s.seed()));
        out.println();
    }

    private void printRow(String name, String text) {
        out.println(format("  %-10s%s", name, text));
    }

    /** Prints the plan and the shards of each rank. */
    void printPlan(List<ParameterShards> parameters, Map<String, ParallelStyle> plan) {
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
                        ranges(p)));
                first = "";
            }
        });
        out.println(format(row, "everything else", "", "", "", "Invariant", "all"));
        out.println();
    }

    private static String ranges(ParameterShards p) {
        if (p.shardedDim() < 0) {
            return "all";
        }
        String text = IntStream.range(0, Math.min(MAX_SHARDS_SHOWN, p.regions().size()))
                .mapToObj(p::range)
                .collect(Collectors.joining(", "));
        String noun = text.substring(0, text.indexOf(' ') + 1);
        return noun + text.replace(noun, "") + (p.regions().size() > MAX_SHARDS_SHOWN ? ", ..." : "");
    }

    /** Shows a progress bar over that many steps, and a line per epoch, until it is closed. */
    Progress startProgress(long steps, int epochs) {
        return new Progress(steps, epochs);
    }

    /** A progress bar, and a line per epoch. */
    final class Progress implements ProgressListener, AutoCloseable {
        private final ProgressLine line;
        private final ProgressBar bar;
        private final int epochs;

        private Progress(long steps, int epochs) {
            this.epochs = epochs;
            boolean interactive = Terminal.isInteractive();
            line = new ProgressLine(interactive ? out : err, interactive);
            bar = new ProgressBarBuilder()
                    .setTaskName("training")
                    .setInitialMax(steps)
                    .setStyle(Terminal.canShow("█▏│") ? ProgressBarStyle.UNICODE_BLOCK : ProgressBarStyle.ASCII)
                    .setUpdateIntervalMillis(interactive ? 100 : 2000)
                    .setConsumer(line)
                    .setUnit(" steps", 1)
                    .build();
        }

        @Override
        public void stepDone() {
            bar.step();
        }

        @Override
        public void epochDone(TrainingResult.Epoch epoch) {
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

    /** Prints accuracy and speed. */
    void printResult(RunInfo info, TrainingResult result) {
        out.println();
        out.println(format(
                "accuracy   %.4f on %d held-out images; loss %.4f",
                result.accuracy(), info.testImages(), result.finalLoss()));
        out.println(format(
                "speed      %,.0f samples per second, %.1f seconds", result.samplesPerSecond(), result.seconds()));
    }

    /** Prints that the parity check has started. */
    void printCheckStarted() {
        out.println("check      training again on one rank ...");
    }

    /** Prints the outcome of the parity check. */
    void printCheck(ParityCheck check) {
        printDifference(check.asTrained());
        if (check.inFloat64() != null) {
            out.println(
                    "check      rounding errors may have grown that large; one epoch in float64, where they cannot:");
            printDifference(check.inFloat64());
        }
        out.println("check      " + (check.passed() ? "passed" : "FAILED: the ranks compute different results"));
    }

    private void printDifference(TrainingDifference difference) {
        out.println(format(
                "check      largest difference in losses %.1e (bound %.0e), in parameters %.1e (bound %.0e; %s)",
                difference.loss(),
                difference.lossBound(),
                difference.parameter(),
                difference.parameterBound(),
                difference.worstParameter()));
    }

    /** Prints the path of a file that was written. */
    void printFile(String name, Object path) {
        out.println(format("%-11s%s", name, path));
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
