package org.tp4j.tests.gpu;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs stages as processes that write into a log each, and reads from the log what came of it. */
final class StageRunner {
    /** Exit code of a stage that found nothing to do on this machine. */
    static final int SKIP = 77;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern TALLY = Pattern.compile("(\\d+) passed, (\\d+) failed, (\\d+) skipped");
    private static final Pattern TELLING = Pattern.compile("^FAIL|HINT:|Exception|Error|SIG[A-Z]+|Unknown option");
    private static final int TAIL_LINES = 60;
    private static final int LINE_LENGTH = 2000;
    private static final int END_SECONDS = 5;

    private final Path folder;
    private final Path logs;

    /**
     * @param folder that processes run in
     * @param logs where logs go
     */
    StageRunner(Path folder, Path logs) {
        this.folder = folder;
        this.logs = logs;
    }

    /** The log of a stage. */
    Path log(Stage stage) {
        return logs.resolve(stage.name().replaceAll("[^A-Za-z0-9=.]+", "-") + ".log");
    }

    /** Runs one to its end, or to the end of its time. */
    StageResult run(Stage stage, long limitSeconds) {
        long start = System.nanoTime();
        Path log = log(stage);
        Process process;
        try {
            Files.createDirectories(logs);
            process = new ProcessBuilder(stage.command())
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectInput(
                            ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException e) {
            return result(stage, start, StageResult.Outcome.FAILED, String.valueOf(e.getMessage()));
        }
        try {
            if (!process.waitFor(limitSeconds, TimeUnit.SECONDS)) {
                end(process);
                return result(stage, start, StageResult.Outcome.TIMEOUT, "ended after " + limitSeconds + " seconds");
            }
        } catch (InterruptedException e) {
            end(process);
            Thread.currentThread().interrupt();
            return result(stage, start, StageResult.Outcome.TIMEOUT, "ended, as nobody waits for it any more");
        }
        int code = process.exitValue();
        StageResult.Outcome outcome = code == 0
                ? StageResult.Outcome.PASSED
                : code == SKIP ? StageResult.Outcome.SKIPPED : StageResult.Outcome.FAILED;
        return result(stage, start, outcome, code == 0 || code == SKIP ? "" : "exit code " + code);
    }

    /** Ends a process with all that it has started. */
    private static void end(Process process) {
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
        try {
            process.waitFor(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private StageResult result(Stage stage, long start, StageResult.Outcome outcome, String reason) {
        double seconds = (System.nanoTime() - start) * 1e-9;
        List<JsonNode> figures = new ArrayList<>();
        List<String> text = new ArrayList<>();
        read(log(stage), figures, text);
        List<String> tail = text.subList(Math.max(0, text.size() - TAIL_LINES), text.size());
        String why = outcome == StageResult.Outcome.FAILED || outcome == StageResult.Outcome.SKIPPED
                ? join(reason, telling(text))
                : reason;
        return new StageResult(stage, outcome, seconds, why, figures, tail);
    }

    private static String join(String a, String b) {
        return a.isEmpty() || b.isEmpty() ? a + b : a + ": " + b;
    }

    /** Figures from the lines of JSON, and the other lines. */
    private static void read(Path log, List<JsonNode> figures, List<String> text) {
        if (!Files.exists(log)) {
            return;
        }
        String content;
        try {
            content = new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
        } catch (IOException e) {
            text.add("the log cannot be read: " + e);
            return;
        }
        content.lines().forEach(line -> {
            JsonNode figure = line.startsWith("{") ? parse(line) : null;
            if (figure != null) {
                figures.add(figure);
                return;
            }
            Matcher tally = TALLY.matcher(line);
            if (tally.matches()) {
                figures.add(JSON.createObjectNode()
                        .put("passed", Integer.parseInt(tally.group(1)))
                        .put("failed", Integer.parseInt(tally.group(2)))
                        .put("skipped", Integer.parseInt(tally.group(3))));
            }
            text.add(line.length() > LINE_LENGTH ? line.substring(0, LINE_LENGTH) + " ..." : line);
        });
    }

    private static @org.jspecify.annotations.Nullable JsonNode parse(String line) {
        try {
            JsonNode node = JSON.readTree(line);
            return node.isObject() ? node : null;
        } catch (JsonProcessingException e) {
            return null; // a line that only begins like one
        }
    }

    /** The line that says most about a failure: the first that names one, else the last. */
    private static String telling(List<String> text) {
        for (String line : text) {
            if (TELLING.matcher(line).find() && !line.contains(" WARN ")) {
                return line.strip();
            }
        }
        for (int i = text.size() - 1; i >= 0; i--) {
            if (!text.get(i).isBlank()) {
                return text.get(i).strip();
            }
        }
        return "";
    }
}
