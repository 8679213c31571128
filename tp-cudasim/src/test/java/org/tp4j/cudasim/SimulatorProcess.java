package org.tp4j.cudasim;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.tp4j.cuda.CudaLibraries;

/**
 * A JVM of its own on the simulator: for what ends a context, for settings of the environment, and for what the simulator
 * says on standard error.
 */
final class SimulatorProcess {
    private static final long TIMEOUT_S = 240;

    /** How it ended and all it printed. */
    record Result(int exitCode, String output) {}

    private final Process process;
    private final Path output;

    private SimulatorProcess(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /** Skips the test where the simulator could not be built. */
    static void assumeSimulator() {
        String folder = System.getProperty(CudaLibraries.SIMULATOR, "");
        assumeThat(Files.exists(Path.of(folder, "libcuda.so.1")))
                .as("the CUDA simulator, built where there is g++")
                .isTrue();
    }

    /** Runs a scenario to its end. */
    static Result run(Map<String, String> environment, String scenario, String... arguments) {
        return start(environment, scenario, arguments).await();
    }

    static SimulatorProcess start(Map<String, String> environment, String scenario, String... arguments) {
        assumeSimulator();
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--add-modules",
                "jdk.incubator.vector",
                "-Xmx1g",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                "-D" + CudaLibraries.SIMULATOR + "=" + System.getProperty(CudaLibraries.SIMULATOR),
                Scenarios.class.getName(),
                scenario));
        command.addAll(List.of(arguments));
        try {
            Path output = Files.createTempFile("simulator", ".log");
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
            builder.environment().putAll(environment);
            return new SimulatorProcess(builder.start(), output);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    Result await() {
        try {
            if (!process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException("not finished after " + TIMEOUT_S + " s: " + Files.readString(output));
            }
            return new Result(process.exitValue(), Files.readString(output));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            try {
                Files.deleteIfExists(output);
            } catch (IOException e) {
                output.toFile().deleteOnExit();
            }
        }
    }
}
