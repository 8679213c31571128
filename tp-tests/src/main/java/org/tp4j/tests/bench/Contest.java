package org.tp4j.tests.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Times contenders in turns, so that a clock that changes or another process that comes along strikes all of them. One that
 * cannot be had, or that fails, is left out from then on, and the reason kept.
 */
final class Contest {
    private final Pace pace;
    private final Map<String, Times> times = new LinkedHashMap<>();
    private final Map<String, String> absent = new LinkedHashMap<>();
    private final Map<String, String> failed = new LinkedHashMap<>();

    Contest(Pace pace) {
        this.pace = pace;
    }

    /** Times them, and closes them. */
    Contest run(List<Contender> contenders) {
        List<Contender> ready = new ArrayList<>(contenders);
        try {
            ready.removeIf(contender -> !attempt(contender, contender::warmUp));
            for (int round = 0; round < pace.rounds(); round++) {
                ready.removeIf(contender -> !attempt(contender, () -> time(contender)));
            }
        } finally {
            contenders.forEach(Contender::close);
        }
        return this;
    }

    private void time(Contender contender) {
        double ms = contender.time();
        times.computeIfAbsent(contender.name(), name -> new Times(pace.rounds()))
                .addNanos(Math.round(ms * 1e6));
    }

    private boolean attempt(Contender contender, Runnable body) {
        try {
            body.run();
            return true;
        } catch (PeerException e) {
            absent.put(contender.name(), String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            failed.put(contender.name(), String.valueOf(e));
        }
        return false;
    }

    /** Whether one of ours has failed. */
    boolean hasFailures() {
        return !failed.isEmpty();
    }

    /** Whether there is a time. */
    boolean has(String name) {
        return times.containsKey(name);
    }

    /** The median in milliseconds; NaN if there is none. */
    double medianMs(String name) {
        Times all = times.get(name);
        return all == null ? Double.NaN : all.median();
    }

    /** Adds {@code NAME_ms} with least and largest for each, {@code NAME_absent} or {@code NAME_failed} where there is none. */
    Report addTo(Report report) {
        times.forEach((name, all) -> report.put(name + "_ms", all.median(), 5)
                .put(name + "_min_ms", all.min(), 5)
                .put(name + "_max_ms", all.max(), 5));
        absent.forEach((name, why) -> report.put(name + "_absent", why));
        failed.forEach((name, why) -> report.put(name + "_failed", why));
        return report;
    }
}
