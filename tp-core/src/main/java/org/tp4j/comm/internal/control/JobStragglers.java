package org.tp4j.comm.internal.control;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.record.CallRecord;

/** Says which ranks keep a call from completing. */
public final class JobStragglers implements Stragglers {
    /** For how long the data of a rank that has left may still be on its way. */
    private static final long IN_FLIGHT_MS = 1_000;

    private static final String HINT =
            "; HINT: all ranks of a group make the same calls in the same order, with the same"
                    + " type, shape, counts, root and reduction";

    private final RankWatch watch;
    private final int worldRank;

    /** The stragglers as {@code worldRank} sees them. */
    public JobStragglers(RankWatch watch, int worldRank) {
        this.watch = watch;
        this.worldRank = worldRank;
    }

    @Override
    public String report(CallRecord record, List<Integer> peers, long waitedNanos) {
        List<String> behind = new ArrayList<>();
        for (int peer : peers) {
            if (peer == worldRank) {
                continue;
            }
            try {
                String blame = blame(record, peer);
                if (blame != null) {
                    behind.add("rank " + peer + " " + blame);
                }
            } catch (CommunicationException e) {
                behind.add("rank 0 is silent: " + e.getMessage());
                break;
            }
        }
        String rest = behind.isEmpty() ? "every rank reports that it has reached this call" : String.join("; ", behind);
        return String.format(
                Locale.ROOT, "rank %d has waited %.1f s in %s; %s", worldRank, waitedNanos * 1e-9, record, rest);
    }

    private @Nullable String blame(CallRecord record, int peer) {
        RankEnd end = watch.ends().of(peer);
        if (end != null) {
            String text = end.describe();
            return text.substring(text.indexOf(' ', "rank ".length()) + 1) + after(end);
        }
        RankWatch.Seen seen = watch.seen(peer);
        if (seen == null) {
            return "has not reported yet";
        }
        RankStatus status = seen.status();
        if (seen.ageMs() > watch.silentMs()) {
            return String.format(
                    Locale.ROOT, "has been silent for %.1f s; before that, %s", seen.ageMs() * 1e-3, status.position());
        }
        // Both sides number messages differently, so they cannot be compared.
        return record.call().kind().isPointToPoint() ? status.elsewhere() : status.blame(record);
    }

    /** How far it came: what a rank that is gone has done since its last heartbeat is not known. */
    private static String after(RankEnd end) {
        RankStatus last = end.last();
        if (last.isUnknown()
                || (end.kind() == RankEnd.Kind.LOST && last.latest().isEmpty())) {
            return "";
        }
        return end.kind() == RankEnd.Kind.LOST
                ? " (its last heartbeat said: " + last.position() + ")"
                : " (" + last.position() + ")";
    }

    @Override
    public Optional<String> failure() {
        return watch.ends().firstFailure(worldRank).map(RankEnd::describe);
    }

    @Override
    public Optional<String> obstacle(CallRecord record, List<Integer> peers) {
        for (RankEnd end : watch.ends().inOrder()) {
            if (end.rank() != worldRank && peers.contains(end.rank()) && prevents(end, record)) {
                String different = end.last().differentCall(record);
                String made = different == null ? "" : "; it made a different call: " + different + HINT;
                return Optional.of(
                        end.describe() + "; rank " + worldRank + " needs it in " + record + made + after(end));
            }
        }
        return Optional.empty();
    }

    /** A rank that has returned may have done its part of the call before. */
    private boolean prevents(RankEnd end, CallRecord record) {
        if (end.isFailure()) {
            return true;
        }
        if (record.call().kind().isPointToPoint()) {
            return watch.ends().knownMs(end.rank()) > IN_FLIGHT_MS;
        }
        return !end.last().hasReached(record) || end.last().differentCall(record) != null;
    }

    @Override
    public Optional<String> disagreement(CallRecord record, List<Integer> peers) {
        if (record.call().kind().isPointToPoint()) {
            return Optional.empty();
        }
        for (int peer : peers) {
            RankWatch.Seen seen = peer == worldRank ? null : watch.seen(peer);
            String different = seen == null ? null : seen.status().differentCall(record);
            if (different != null) {
                return Optional.of("ranks of group '" + record.group() + "' disagree on call " + record.sequence()
                        + ": rank " + worldRank + " calls " + record.callInModule() + ", rank " + peer
                        + " made a different call: " + different + HINT);
            }
        }
        return Optional.empty();
    }
}
