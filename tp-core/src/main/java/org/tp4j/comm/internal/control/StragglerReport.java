package org.tp4j.comm.internal.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.record.CallRecord;

/** Puts into words why a call does not complete. */
final class StragglerReport {
    private StragglerReport() {}

    /**
     * What is known of a rank.
     *
     * @param standing where it stands
     * @param ageMs how old that is
     * @param isSilent whether it should have said more since
     */
    record Seen(RankStatus standing, long ageMs, boolean isSilent) {}

    static String waited(CallRecord record, int worldRank, long waitedNanos) {
        return String.format(Locale.ROOT, "rank %d has waited %.1f s in %s", worldRank, waitedNanos * 1e-9, record);
    }

    static String of(
            CallRecord record,
            int worldRank,
            List<Integer> peers,
            long waitedNanos,
            IntFunction<@Nullable Seen> sightings) {
        List<String> behind = new ArrayList<>();
        for (int peer : peers) {
            if (peer == worldRank) {
                continue;
            }
            Seen seen = sightings.apply(peer);
            if (seen == null) {
                behind.add("rank " + peer + " has given no sign of life");
                continue;
            }
            if (seen.isSilent()) {
                behind.add(String.format(
                        Locale.ROOT,
                        "rank %d has been silent for %.1f s: %s",
                        peer,
                        seen.ageMs() * 1e-3,
                        seen.standing().position()));
                continue;
            }
            // Messages are not numbered alike on both sides: nothing can be said of them.
            String blame = record.call().kind().isPointToPoint()
                    ? "is here: " + seen.standing().position()
                    : seen.standing().blame(record);
            if (blame != null) {
                behind.add("rank " + peer + " " + blame);
            }
        }
        String rest = behind.isEmpty() ? "every rank says that it has come to this call" : String.join("; ", behind);
        return waited(record, worldRank, waitedNanos) + "; " + rest;
    }
}
