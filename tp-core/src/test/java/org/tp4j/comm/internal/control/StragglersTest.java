package org.tp4j.comm.internal.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.engine.Stragglers;
import org.tp4j.comm.record.CallRecord;
import org.tp4j.comm.record.Collective;
import org.tp4j.comm.record.CollectiveCall;
import org.tp4j.comm.record.FlightRecorder;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.meta.MetaBackend;

class StragglersTest {
    private static final long THREE_SECONDS = 3_000_000_000L;

    private final FlightRecorder mine = new FlightRecorder(0);
    private final FlightRecorder other = new FlightRecorder(1);
    private final Stragglers stragglers =
            new RecordedStragglers(List.of(mine, other), 0, () -> Optional.of("rank 1 has failed"));

    private static CallRecord call(FlightRecorder recorder, long sequence, long elements) {
        NdArray array = NdArray.allocate(MetaBackend.get(), DType.FLOAT32, Shape.of(elements));
        CollectiveCall call = CollectiveCall.allReduce(array, array, ReduceOp.SUM);
        CallRecord record = new CallRecord("tp", recorder.worldRank(), sequence, call, "");
        recorder.add(record);
        return record;
    }

    private String report(CallRecord record) {
        return stragglers.report(record, List.of(0, 1), THREE_SECONDS);
    }

    @Test
    void shouldNameARankThatHasNotReachedTheCall() {
        CallRecord waiting = call(mine, 1, 4);
        assertThat(report(waiting))
                .isEqualTo("rank 0 has waited 3.0 s in call 1 on group 'tp': allReduce(sum, float32 [4]);"
                        + " rank 1 is elsewhere: rank 1 has made no call yet");
    }

    @Test
    void shouldNameARankThatMadeADifferentCall() {
        CallRecord waiting = call(mine, 1, 4);
        call(other, 1, 5);
        call(other, 2, 6); // it is ahead: its device is not
        assertThat(report(waiting)).endsWith("; rank 1 made a different call: allReduce(sum, float32 [5])");
    }

    @Test
    void shouldBlameNobodyIfAllMadeTheSameCall() {
        CallRecord waiting = call(mine, 1, 4);
        call(other, 1, 4);
        assertThat(report(waiting)).endsWith("; every rank reports that it has reached this call");
        assertThat(stragglers.failure()).contains("rank 1 has failed");
    }

    @Test
    void shouldSurviveARoundTripThroughAMessage() {
        call(other, 1, 5);
        call(other, 2, 6).done();
        CallRecord odd = new CallRecord("a\tgroup\n", 1, 1, CollectiveCall.withoutData(Collective.BARRIER), "");
        other.add(odd);
        RankStatus status = RankStatus.of(other);
        assertThat(RankStatus.read(status.toBytes()).latest())
                .containsEntry("a group ", 1L)
                .containsEntry("tp", 2L);
        assertThat(RankStatus.read(status.toBytes()).pending())
                .extracting(RankStatus.PendingCall::text)
                .containsExactly("allReduce(sum, float32 [5])", "barrier()");
        assertThat(RankStatus.read(status.toBytes()).blame(odd)).isNull();
    }

    @Test
    void shouldReportTheFirstCallsOnly() {
        for (int i = 1; i <= 100; i++) {
            call(other, i, i);
        }
        assertThat(RankStatus.of(other).pending())
                .hasSize(8)
                .first()
                .extracting(RankStatus.PendingCall::sequence)
                .isEqualTo(1L);
    }
}
