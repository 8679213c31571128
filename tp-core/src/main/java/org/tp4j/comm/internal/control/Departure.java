package org.tp4j.comm.internal.control;

import java.util.Locale;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;

/** How a rank leaves the job after its program has returned: not before all others' have, and not if one of them fails. */
public final class Departure {
    private static final long POLL_MS = 50;
    private static final long LOOK_MS = 1_000;
    private static final long TELL_MS = 10_000;

    private Departure() {}

    /**
     * Tells the others that this rank's program has returned, and waits until all programs have.
     *
     * @param timeoutMs how long a rank may be silent
     * @throws CommunicationException if a rank fails or is silent
     */
    public static void returned(ControlLink link, int worldRank, int ranks, long timeoutMs) {
        link.end(RankEnd.Kind.RETURNED, "", TELL_MS);
        JobStragglers stragglers = new JobStragglers(link, worldRank);
        long looked = System.nanoTime();
        while (link.ends().count() < ranks) {
            stragglers.failure().ifPresent(failure -> {
                throw new CommunicationException(failure + "; the program of rank " + worldRank
                        + " has returned before, and its results may be wrong");
            });
            RankEnd server = link.ends().of(0);
            if (link.isGone() && server != null && !server.isFailure()) {
                return; // rank 0 leaves when all have returned
            }
            if (System.nanoTime() - looked > LOOK_MS * 1_000_000) {
                checkSilent(link, worldRank, ranks, timeoutMs);
                looked = System.nanoTime();
            }
            try {
                link.ends().awaitChange(POLL_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new CommunicationException(
                        "rank " + worldRank + " was interrupted while it waited for the others");
            }
        }
    }

    private static void checkSilent(ControlLink link, int worldRank, int ranks, long timeoutMs) {
        for (int rank = 0; rank < ranks; rank++) {
            if (link.ends().of(rank) != null) {
                continue;
            }
            RankWatch.Seen seen;
            try {
                seen = link.seen(rank);
            } catch (CommunicationException e) {
                return; // rank 0 is paused, or gone, which the heartbeat finds out
            }
            if (seen != null && seen.ageMs() > timeoutMs) {
                throw new CommunicationException(String.format(
                        Locale.ROOT,
                        "rank %d has been silent for %.1f s, and rank %d, whose program has returned, waits for it; before that,"
                                + " %s; HINT: -D%s=N allows more time",
                        rank,
                        seen.ageMs() * 1e-3,
                        worldRank,
                        seen.status().position(),
                        CommunicationOptions.TIMEOUT));
            }
        }
    }
}
