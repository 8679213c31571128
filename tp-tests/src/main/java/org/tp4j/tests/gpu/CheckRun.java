package org.tp4j.tests.gpu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;

/**
 * Runs stages one after the other within a time, going on after a failure; what no longer fits is left out. A background stage
 * runs beside the others until one awaits it, or to the end; who awaits it does so as long as that leaves it its own time.
 */
final class CheckRun {
    private final StageRunner runner;
    private final long deadline;
    private final Consumer<List<StageResult>> listener;
    private final List<StageResult> results = new ArrayList<>();
    private final Map<String, Background> running = new LinkedHashMap<>();

    private record Background(Thread thread, CompletableFuture<StageResult> result) {}

    /** @param listener is told of all results so far, after each */
    CheckRun(StageRunner runner, long seconds, Consumer<List<StageResult>> listener) {
        this.runner = runner;
        this.deadline = System.nanoTime() + seconds * 1_000_000_000L;
        this.listener = listener;
    }

    List<StageResult> run(List<Stage> stages) {
        for (Stage stage : stages) {
            settle(stage.awaits(), left() - stage.limitSeconds());
            long limit = (long) Math.min(stage.limitSeconds(), left());
            if (limit < stage.leastSeconds()) {
                add(StageResult.noTime(stage, left()));
            } else if (stage.background()) {
                CompletableFuture<StageResult> result = new CompletableFuture<>();
                Thread thread = new Thread(() -> result.complete(runner.run(stage, limit)), stage.name());
                thread.setDaemon(true);
                thread.start();
                running.put(stage.name(), new Background(thread, result));
            } else {
                add(runner.run(stage, limit));
            }
        }
        for (String name : List.copyOf(running.keySet())) {
            settle(name, left());
        }
        return results;
    }

    private double left() {
        return (deadline - System.nanoTime()) * 1e-9;
    }

    /** Waits for a background stage, and ends it when the patience does. */
    private void settle(String name, double patienceSeconds) {
        Background background = running.remove(name);
        if (background == null) {
            return;
        }
        try {
            background.thread.join(Math.max(1, (long) (1000 * patienceSeconds)));
            background.thread.interrupt();
            add(background.result.get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    private void add(StageResult result) {
        results.add(result);
        listener.accept(List.copyOf(results));
    }
}
