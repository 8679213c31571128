package org.tp4j.comm;

import java.util.List;

/** Stragglers among ranks that are threads of this JVM: everybody's record can be read. */
public final class RecordedStragglers implements Stragglers {
    private final List<FlightRecorder> recorders;
    private final int worldRank;

    /**
     * As one rank sees the others.
     *
     * @param recorders the record of each rank, in rank order
     * @param worldRank this one
     */
    public RecordedStragglers(List<FlightRecorder> recorders, int worldRank) {
        this.recorders = List.copyOf(recorders);
        this.worldRank = worldRank;
    }

    @Override
    public String report(CallRecord record, List<Integer> peers, long waitedNanos) {
        return StragglerReport.of(
                record,
                worldRank,
                peers,
                waitedNanos,
                peer -> new StragglerReport.Seen(Standing.of(recorders.get(peer)), 0, false));
    }
}
