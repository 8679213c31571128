package org.tp4j.comm.internal.control;

import org.jspecify.annotations.Nullable;

/** What one rank can learn about the others. */
public interface RankWatch {
    /**
     * A rank's latest report of its progress.
     *
     * @param status the progress
     * @param ageMs its age
     */
    record Seen(RankStatus status, long ageMs) {}

    /**
     * A rank's latest report; null if there is none.
     *
     * @throws org.tp4j.comm.CommunicationException if rank 0, which keeps them, does not answer
     */
    @Nullable Seen seen(int rank);

    /** The ranks that have ended, as far as this rank knows. */
    RankEnds ends();

    /** From which age of its latest report on a rank counts as silent. */
    long silentMs();
}
