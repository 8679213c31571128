package org.tp4j.comm.internal.control;

import java.util.List;
import org.tp4j.comm.record.FlightRecorder;

/** What ranks that are threads of this JVM know about each other, from their flight recorders. */
public final class LocalRankWatch implements RankWatch {
    private final List<FlightRecorder> recorders;
    private final RankEnds ends = new RankEnds();

    /**
     * A watch over ranks.
     *
     * @param recorders the flight recorder of each rank, in rank order
     */
    public LocalRankWatch(List<FlightRecorder> recorders) {
        this.recorders = List.copyOf(recorders);
    }

    /** A rank has ended. */
    public void ended(int rank, RankEnd.Kind kind, String detail) {
        ends.add(new RankEnd(rank, kind, detail, RankStatus.of(recorders.get(rank))));
    }

    @Override
    public Seen seen(int rank) {
        return new Seen(RankStatus.of(recorders.get(rank)), 0);
    }

    @Override
    public RankEnds ends() {
        return ends;
    }

    @Override
    public long silentMs() {
        return Long.MAX_VALUE;
    }
}
