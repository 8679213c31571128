package org.tp4j.comm.internal.control;

import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.FlightRecorder;

/** Stragglers among ranks that are threads of this JVM, read from their flight recorders. */
public final class RecordedStragglers implements Stragglers {
    private final List<FlightRecorder> recorders;
    private final int worldRank;
    private final Supplier<Optional<String>> failure;

    /**
     * The stragglers as one rank sees them.
     *
     * @param recorders the flight recorder of each rank, in rank order
     * @param worldRank this rank
     * @param failure the failure that a rank has announced
     */
    public RecordedStragglers(List<FlightRecorder> recorders, int worldRank, Supplier<Optional<String>> failure) {
        this.failure = failure;
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
                peer -> new StragglerReport.Seen(RankStatus.of(recorders.get(peer)), 0, false));
    }

    @Override
    public Optional<String> failure() {
        return failure.get();
    }
}
