package org.tp4j.tests.conformance;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.tp4j.tests.run.JobRunner;
import org.tp4j.tests.run.Outcome;
import org.tp4j.tests.run.RankOptions;
import org.tp4j.tests.run.Tally;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Runs every case of a folder of reference vectors on each number of ranks: {@code scripts/conformance.sh DIR}. Prints a line
 * {@code PASS|FAIL|SKIP case T=n max error} for each, and last {@code N passed, N failed, N skipped}.
 */
@Command(
        name = "conformance",
        description = "Runs the reference vectors of a folder (index.json and a safetensors file a case).",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class ConformanceMain implements Callable<Integer> {
    @Parameters(paramLabel = "DIR", description = "The folder.")
    private Path folder = Path.of(".");

    @Mixin
    private RankOptions ranks = new RankOptions();

    /** Runs and ends the process. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new ConformanceMain()).execute(args));
    }

    @Override
    public Integer call() {
        try {
            ranks.check();
            return run(folder, ranks, Runners.all(), System.out) == 0 ? 0 : 1;
        } catch (IllegalArgumentException e) {
            System.err.println("conformance: " + e.getMessage());
            return 2;
        }
    }

    /**
     * Runs a folder.
     *
     * @return how many cases failed
     */
    public static int run(Path folder, RankOptions ranks, List<CaseRunner> runners, PrintStream out) {
        Tally tally = new Tally();
        ReferenceIndex index = ReferenceIndex.read(folder);
        List<CaseJob> jobs =
                index.cases().stream().map(c -> new CaseJob(c, runners)).toList();
        for (int n : ranks.counts()) {
            index.broken().forEach((name, why) -> report(name, n, Outcome.fail(why), ranks, tally, out));
            new JobRunner(ranks).run(n, jobs, (job, outcome) -> report(job.name(), n, outcome, ranks, tally, out));
        }
        if (ranks.reports()) {
            out.println(tally);
        }
        return tally.failed();
    }

    private static void report(String name, int n, Outcome outcome, RankOptions ranks, Tally tally, PrintStream out) {
        tally.add(outcome);
        if (ranks.reports()) {
            out.println(outcome.line(name, n));
            out.flush();
        }
    }
}
