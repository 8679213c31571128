package org.tp4j.tests.parity;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.tp4j.tensor.DType;
import org.tp4j.tests.parity.ParityJob.Quantity;
import org.tp4j.tests.run.JobRunner;
import org.tp4j.tests.run.Outcome;
import org.tp4j.tests.run.RankOptions;
import org.tp4j.tests.run.Tally;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Trains every configuration on one rank and on T, in float64 and float32, and prints how far apart they are: {@code
 * scripts/parity.sh}. Each number is the largest difference, relative to the largest element of its tensor.
 */
@Command(
        name = "parity",
        description = "Shows that T ranks compute what one rank computes: the largest relative difference in outputs, "
                + "gradients, gradient norm, and parameters after 20 AdamW steps.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class ParityMain implements Callable<Integer> {
    @Mixin
    private RankOptions ranks = new RankOptions();

    /** Runs and ends the process. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new ParityMain()).execute(args));
    }

    @Override
    public Integer call() {
        try {
            ranks.check();
            return run(Configurations.all(), ranks, System.out) == 0 ? 0 : 1;
        } catch (IllegalArgumentException e) {
            System.err.println("parity: " + e.getMessage());
            return 2;
        }
    }

    /**
     * Runs configurations.
     *
     * @return how many rows failed
     */
    public static int run(List<Configuration> configurations, RankOptions ranks, PrintStream out) {
        Tally tally = new Tally();
        List<ParityJob> jobs = new ArrayList<>();
        for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
            configurations.forEach(c -> jobs.add(new ParityJob(c, dtype)));
        }
        if (ranks.reports()) {
            out.println(header());
        }
        for (int n : ranks.counts()) {
            new JobRunner(ranks).run(n, jobs, (job, outcome) -> {
                tally.add(outcome);
                if (ranks.reports()) {
                    out.println(row((ParityJob) job, n, outcome));
                    out.flush();
                }
            });
        }
        if (ranks.reports()) {
            out.println(tally);
        }
        return tally.failed();
    }

    private static String header() {
        StringBuilder titles = new StringBuilder(String.format("%-4s  %-36s  %-3s  %-7s", "", "", "", ""));
        StringBuilder bounds = new StringBuilder();
        for (DType dtype : List.of(DType.FLOAT64, DType.FLOAT32)) {
            bounds.append('\n').append(String.format("%-4s  %-36s  %-3s  %-7s", "", "at most", "", dtype));
            for (Quantity quantity : Quantity.values()) {
                bounds.append(String.format(Locale.ROOT, "  %10.0e", quantity.bound(dtype)));
            }
        }
        for (Quantity quantity : Quantity.values()) {
            titles.append(String.format("  %10s", quantity.title()));
        }
        return titles.append(bounds).toString();
    }

    private static String row(ParityJob job, int n, Outcome outcome) {
        return String.format(
                "%-4s  %-36s  T=%-1d  %-7s%s",
                outcome.status(), job.configuration().name(), n, job.dtype(), outcome.detail());
    }
}
