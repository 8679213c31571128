package org.tp4j.tests.comm;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Runs a program of the test class path under {@code mpirun}, with a time limit, and ends all of its processes. */
public final class MpiRun {
    private static final String MPIRUN = System.getenv().getOrDefault("TP4J_MPIRUN", "mpirun");

    private final List<String> jvmOptions = new ArrayList<>();
    private final List<String> arguments = new ArrayList<>();
    private final Map<String, String> environment = new HashMap<>();
    private final int ranks;
    private final Class<?> main;
    private long limitSeconds = 180;

    /**
     * How it ended.
     *
     * @param exitCode mpirun's exit code; -1 if it ran past the limit and was ended
     * @param output what all ranks have printed, each line with its rank
     * @param seconds how long it took
     */
    public record Result(int exitCode, String output, double seconds) {}

    /** A run of {@code main} on so many ranks. */
    public MpiRun(int ranks, Class<?> main) {
        this.ranks = ranks;
        this.main = main;
    }

    /** Skips the calling test, with the reason, where there is no mpirun or no native library for MPI. */
    public static void assumeAvailable() {
        Assumptions.assumeTrue(
                version().isPresent(), "no '" + MPIRUN + "' here: install Open MPI (apt-get install openmpi-bin)");
        Optional<String> unavailable = new org.tp4j.mpi.MpiLauncher().unavailable();
        Assumptions.assumeTrue(unavailable.isEmpty(), () -> "no MPI here: " + unavailable.orElse(""));
    }

    private static Optional<String> version() {
        try {
            Process process = new ProcessBuilder(MPIRUN, "--version")
                    .redirectErrorStream(true)
                    .start();
            String text = new String(process.getInputStream().readAllBytes());
            return process.waitFor() == 0 ? Optional.of(text) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** More options for each rank's JVM. */
    public MpiRun jvm(String... options) {
        jvmOptions.addAll(List.of(options));
        return this;
    }

    /** Arguments of the program. */
    public MpiRun args(String... values) {
        arguments.addAll(List.of(values));
        return this;
    }

    /** A variable of all ranks' environment. */
    public MpiRun variable(String name, String value) {
        environment.put(name, value);
        return this;
    }

    /** How long it may take; longer runs are ended. */
    public MpiRun limitSeconds(long seconds) {
        limitSeconds = seconds;
        return this;
    }

    /** Runs it. */
    public Result run() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(MPIRUN, "-np", String.valueOf(ranks)));
        if (version().orElse("").contains("Open MPI")) {
            command.addAll(List.of("--oversubscribe", "--allow-run-as-root", "--tag-output", "--bind-to", "none"));
            command.addAll(List.of("--mca", "mpi_yield_when_idle", "1"));
        }
        command.add(System.getProperty("java.home") + File.separator + "bin" + File.separator + "java");
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of("--add-modules", "jdk.incubator.vector", "-XX:+UseSerialGC", "-Xmx512m"));
        command.addAll(jvmOptions);
        command.add(main.getName());
        command.addAll(arguments);
        Path log = Files.createTempFile("tp4j-mpirun", ".log");
        long start = System.nanoTime();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        int exitCode = -1;
        try {
            if (process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
                exitCode = process.exitValue();
            }
        } finally {
            List<ProcessHandle> tree = process.descendants().toList();
            process.destroyForcibly();
            tree.forEach(ProcessHandle::destroyForcibly);
        }
        process.waitFor(10, TimeUnit.SECONDS);
        String output = Files.readString(log);
        Files.delete(log);
        return new Result(exitCode, output, (System.nanoTime() - start) * 1e-9);
    }
}
