package org.tp4j.comm.internal.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
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
    private static final List<Integer> BOTH = List.of(0, 1);

    private final FlightRecorder mine = new FlightRecorder(0);
    private final FlightRecorder other = new FlightRecorder(1);
    private final LocalRankWatch watch = new LocalRankWatch(List.of(mine, other));
    private final Stragglers stragglers = new JobStragglers(watch, 0);

    private static CallRecord call(FlightRecorder recorder, long sequence, long elements) {
        return call(recorder, "tp", sequence, elements);
    }

    private static CallRecord call(FlightRecorder recorder, String group, long sequence, long elements) {
        NdArray array = NdArray.allocate(MetaBackend.get(), DType.FLOAT32, Shape.of(elements));
        CollectiveCall call = CollectiveCall.allReduce(array, array, ReduceOp.SUM);
        CallRecord record = new CallRecord(group, recorder.worldRank(), sequence, call, "");
        recorder.add(record);
        return record;
    }

    private String report(CallRecord record) {
        return stragglers.report(record, BOTH, THREE_SECONDS);
    }

    @Test
    void shouldNameARankThatHasNotReachedTheCall() {
        CallRecord waiting = call(mine, 1, 4);
        assertThat(report(waiting))
                .isEqualTo("rank 0 has waited 3.0 s in call 1 on group 'tp': allReduce(sum, float32 [4]);"
                        + " rank 1 is elsewhere: rank 1 has made no call yet");
    }

    @Test
    void shouldSayInWhichOtherGroupsCallARankWaits() {
        CallRecord waiting = call(mine, 1, 4);
        call(other, "dp", 7, 5).awaited();
        assertThat(report(waiting))
                .contains(
                        "; rank 1 waits in call 7 on group 'dp': allReduce(sum, float32 [5]); rank 1 has made 1 call");
    }

    @Test
    void shouldNameARankThatMadeADifferentCallThoughItIsOverThere() {
        CallRecord waiting = call(mine, 1, 4);
        CallRecord different = call(other, 1, 5);
        call(other, 2, 6); // it is ahead: its device is not
        assertThat(report(waiting)).endsWith("; rank 1 made a different call: allReduce(sum, float32 [5])");
        different.done();
        assertThat(report(waiting)).endsWith("; rank 1 made a different call: allReduce(sum, float32 [5])");
        assertThat(stragglers.disagreement(waiting, BOTH).orElseThrow())
                .startsWith(
                        "ranks of group 'tp' disagree on call 1: rank 0 calls allReduce(sum, float32 [4]), rank 1 made a"
                                + " different call: allReduce(sum, float32 [5]); HINT");
    }

    @Test
    void shouldBlameNobodyIfAllMadeTheSameCall() {
        CallRecord waiting = call(mine, 1, 4);
        call(other, 1, 4);
        assertThat(report(waiting)).endsWith("; every rank reports that it has reached this call");
        assertThat(stragglers.disagreement(waiting, BOTH)).isEmpty();
    }

    @Test
    void shouldNotForgetAGroupThatOthersHaveOutrun() {
        CallRecord waiting = call(mine, "dp", 1, 4);
        call(other, "dp", 1, 4).done();
        for (int i = 1; i <= 1000; i++) { // more than a flight recorder keeps
            call(other, "tp", i, 4).done();
        }
        assertThat(report(waiting)).endsWith("; every rank reports that it has reached this call");
    }

    @Test
    void shouldSayWhoHasEndedAndHow() {
        CallRecord waiting = call(mine, 1, 4);
        assertThat(stragglers.obstacle(waiting, BOTH)).isEmpty();
        call(other, 1, 5);
        watch.ended(1, RankEnd.Kind.RETURNED, "");
        assertThat(stragglers.obstacle(waiting, BOTH).orElseThrow())
                .startsWith("rank 1 has returned; rank 0 needs it in call 1 on group 'tp'")
                .contains("it made a different call: allReduce(sum, float32 [5]); HINT");
        watch.ended(1, RankEnd.Kind.FAILED, "too late");
        assertThat(stragglers.failure()).as("only the first end counts").isEmpty();
    }

    @Test
    void shouldNotBlameARankThatHasDoneItsPart() {
        CallRecord waiting = call(mine, 1, 4);
        call(other, 1, 4);
        watch.ended(1, RankEnd.Kind.RETURNED, "");
        assertThat(stragglers.obstacle(waiting, BOTH)).isEmpty();
        assertThat(stragglers.obstacle(call(mine, 2, 4), BOTH)).isPresent();
    }

    @Test
    void shouldNameTheFirstRankThatFailed() {
        watch.ended(1, RankEnd.Kind.FAILED, "java.lang.IllegalStateException: boom");
        assertThat(stragglers.failure()).contains("rank 1 has failed: java.lang.IllegalStateException: boom");
        assertThat(new JobStragglers(watch, 1).failure()).as("itself").isEmpty();
    }

    @Test
    void shouldSurviveARoundTripThroughAMessage() {
        call(other, 1, 5);
        call(other, 2, 6).done();
        CallRecord odd = new CallRecord("a\tgroup\n", 1, 1, CollectiveCall.withoutData(Collective.BARRIER), "");
        other.add(odd);
        RankStatus status = RankStatus.read(RankStatus.of(other).toBytes());
        assertThat(status.latest()).containsEntry("a group ", 1L).containsEntry("tp", 2L);
        assertThat(status.calls())
                .extracting(RankStatus.Call::text, RankStatus.Call::state)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple("allReduce(sum, float32 [5])", RankStatus.State.STARTED),
                        org.assertj.core.groups.Tuple.tuple("barrier()", RankStatus.State.STARTED),
                        org.assertj.core.groups.Tuple.tuple("allReduce(sum, float32 [6])", RankStatus.State.OVER));
        assertThat(status.blame(odd)).isNull();
    }

    @Test
    void shouldReportTheFirstCallsOnly() {
        for (int i = 1; i <= 100; i++) {
            call(other, i, i);
        }
        assertThat(RankStatus.of(other).calls())
                .hasSize(8)
                .first()
                .extracting(RankStatus.Call::sequence)
                .isEqualTo(1L);
    }
}
