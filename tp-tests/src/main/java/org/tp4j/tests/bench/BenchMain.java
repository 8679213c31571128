package org.tp4j.tests.bench;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Measures: {@code scripts/bench.sh mlp} a training step, {@code op} what an operation costs the host, {@code gpu} a GPU. */
@Command(
        name = "bench",
        description = "Measures, and prints one line of JSON.",
        subcommands = {MlpBench.class, OpBench.class, GpuBench.class},
        mixinStandardHelpOptions = true)
public final class BenchMain {
    /** Runs and ends the process. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new BenchMain()).execute(args));
    }
}
