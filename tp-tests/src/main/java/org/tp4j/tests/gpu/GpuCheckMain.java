package org.tp4j.tests.gpu;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.tp4j.tests.gpu.StageResult.Outcome;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Runs the stages of a check and writes {@code gpu-check.json} (after each stage, so that it is there whatever happens),
 * {@code gpu-check.log} (all logs) and {@code gpu-check.txt} (the table, which is also printed last). Started by {@code
 * scripts/gpu-check.sh} on the Java runtime that the bundle brings.
 */
@Command(name = "gpu-check", description = "Runs the stages of a GPU check.", sortOptions = false)
public final class GpuCheckMain implements Callable<Integer> {
    /** Environment variable: names of stages that are made to fail, separated by commas. For the test of the check. */
    static final String PLANT = "TP4J_GPU_CHECK_FAIL";

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int LOG_BYTES = 512 << 10; // of each log, so that all together stay below 16 MiB

    @Option(names = "--out", required = true, description = "Folder of the results.")
    private Path out = Path.of(".");

    @Option(names = "--scratch", required = true, description = "Folder for everything else.")
    private Path scratch = Path.of(".");

    @Option(
            names = "--script",
            required = true,
            description = "gpu-check.sh, whose --versions says what the machine is.")
    private Path script = Path.of(".");

    @Option(names = "--torch-script", required = true, description = "torch_mlp.py.")
    private Path torch = Path.of(".");

    @Option(names = "--python", required = true, description = "The Python that PyTorch is looked for in.")
    private String python = "python3";

    @Option(names = "--golden", required = true, description = "Folder of the reference vectors.")
    private Path golden = Path.of(".");

    @Option(names = "--manifest", required = true, description = "The bundle's manifest.")
    private Path manifest = Path.of(".");

    @Option(names = "--simulator", description = "Folder of simulated libraries.")
    private String simulator = "";

    @Option(names = "--seconds", required = true, description = "Time for all stages.")
    private int seconds = 300;

    /** Where everything is. */
    record Options(Path scratch, Path script, Path torch, String python, Path golden, String simulator) {}

    /** Runs and ends the process. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new GpuCheckMain()).execute(args));
    }

    @Override
    public Integer call() throws IOException {
        Files.createDirectories(out);
        List<Stage> stages = planted(
                new CheckPlan(new Options(scratch, script, torch, python, golden, simulator)).stages(),
                System.getenv().getOrDefault(PLANT, ""));
        ObjectNode facts = JSON.createObjectNode()
                .put("check", "TP4J on a GPU")
                .put("simulated", !simulator.isEmpty())
                .put("started", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        facts.set("bundle", JSON.readTree(manifest.toFile()));
        Path logs = scratch.resolve("logs");
        StageRunner runner = new StageRunner(scratch, logs);
        Path json = out.resolve("gpu-check.json");
        long start = System.nanoTime();
        List<StageResult> results = new CheckRun(runner, seconds, sofar -> {
                    facts.put("seconds", Math.round((System.nanoTime() - start) * 1e-8) / 10.0);
                    progress(sofar.get(sofar.size() - 1));
                    try {
                        new CheckReport(facts, sofar).write(json);
                        gather(logs, out.resolve("gpu-check.log"));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                })
                .run(stages);
        CheckReport report = new CheckReport(facts, results);
        Files.writeString(out.resolve("gpu-check.txt"), report.table());
        System.out.println();
        System.out.print(report.table());
        System.out.println();
        System.out.println((simulator.isEmpty() ? "" : "On SIMULATED devices. ") + results.size() + " stages, "
                + results.stream().filter(result -> !result.isGood()).count() + " not passed; " + json);
        return report.passed() ? 0 : 1;
    }

    private static void progress(StageResult result) {
        System.out.printf("%-26s %s%n", result.stage().name(), word(result.outcome()));
        System.out.flush();
    }

    private static String word(Outcome outcome) {
        return outcome.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
    }

    /** Stages that are to fail get an argument that their programs do not know. */
    static List<Stage> planted(List<Stage> stages, String names) {
        Set<String> wanted = new TreeSet<>(List.of(names.split(",", -1)));
        wanted.remove("");
        List<Stage> all = stages.stream()
                .map(stage -> wanted.remove(stage.name()) ? stage.with("--planted-failure") : stage)
                .collect(Collectors.toList());
        if (!wanted.isEmpty()) {
            throw new IllegalArgumentException(PLANT + " names " + wanted + ", and there are the stages "
                    + stages.stream().map(Stage::name).toList());
        }
        return all;
    }

    /** All logs in one file, of each the end; JVMs that died have left theirs there too. */
    private static void gather(Path logs, Path into) throws IOException {
        StringBuilder all = new StringBuilder();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(logs, "*.log")) {
            for (Path file : new TreeSet<>(list(files))) {
                byte[] content = Files.readAllBytes(file);
                int from = Math.max(0, content.length - LOG_BYTES);
                all.append("===== ").append(file.getFileName()).append('\n');
                all.append(new String(content, from, content.length - from, StandardCharsets.UTF_8));
                all.append('\n');
            }
        }
        Files.writeString(into, all);
    }

    private static List<Path> list(DirectoryStream<Path> files) {
        List<Path> all = new java.util.ArrayList<>();
        files.forEach(all::add);
        return all;
    }
}
