package org.tp4j.comm.internal.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;

/** Describes why a call does not complete. */
final class StragglerReport {
    private StragglerReport() {}

    /**
     * What is known about a rank.
     *
     * @param status its last reported status
     * @param ageMs age of that report
     * @param isSilent whether later reports are missing
     */
    record Seen(RankStatus status, long ageMs, boolean isSilent) {}

    static String waited(CallRecord record, int worldRank, long waitedNanos) {
        return String.format(Locale.ROOT, "rank %d has waited %.1f s in %s", worldRank, waitedNanos * 1e-9, record);
    }

    static String of(
            CallRecord record,
            int worldRank,
            List<Integer> peers,
            long waitedNanos,
            IntFunction<@Nullable Seen> statuses) {
        List<String> behind = new ArrayList<>();
        for (int peer : peers) {
            if (peer == worldRank) {
                continue;
            }
            Seen seen = statuses.apply(peer);
            if (seen == null) {
                behind.add("rank " + peer + " has sent no heartbeat");
                continue;
            }
            if (seen.isSilent()) {
                behind.add(String.format(
                        Locale.ROOT,
                        "rank %d has been silent for %.1f s: %s",
                        peer,
                        seen.ageMs() * 1e-3,
                        seen.status().position()));
                continue;
            }
            // Both sides number messages differently, so they cannot be compared.
            String blame = record.call().kind().isPointToPoint()
                    ? "is at: " + seen.status().position()
                    : seen.status().blame(record);
            if (blame != null) {
                behind.add("rank " + peer + " " + blame);
            }
        }
        String rest = behind.isEmpty() ? "every rank reports that it has reached this call" : String.join("; ", behind);
        return waited(record, worldRank, waitedNanos) + "; " + rest;
    }
}
