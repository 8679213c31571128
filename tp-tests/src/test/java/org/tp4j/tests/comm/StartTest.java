package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks that start in odd ways: twice in one process, or not at all. */
@Timeout(240)
class StartTest {
    @Test
    void shouldStartMpiOnceForTwoThreads() throws Exception {
        RankRun.assume(RankRun.Way.MPI);
        RankRun.Result result =
                new RankRun(RankRun.Way.MPI, 2, StartMain.class).args("twice").run();
        assertThat(result.exitCodes()).as(result.output()).containsExactly(0);
        assertThat(result.output())
                .contains("the rank is 0", "the rank is 1", "and again, rank 0", "and again, rank 1")
                .containsPattern("told: this process is one rank of an MPI job, and thread '.*' runs as that rank;"
                        + " thread '.*' cannot be another one; HINT: share the World");
        assertThat(result.output().split("told: ", -1)).as(result.output()).hasSize(3); // one for each process
    }

    @ParameterizedTest
    @EnumSource(names = {"MPI", "ENV_NCCL"})
    void shouldNotWaitForeverForARankThatIsStoppedBeforeItStarts(RankRun.Way way) throws Exception {
        RankRun.assume(way);
        RankRun.Result result = new RankRun(way, 2, StartMain.class)
                .jvm("-Dtp4j.comm.startTimeoutSeconds=8")
                .args("stopped")
                .notWaitingFor(1)
                .run();
        assertThat(result.exitCodes().get(0)).as(result.output()).isNotIn(0, -1);
        assertThat(result.output())
                .containsPattern(
                        way == RankRun.Way.MPI
                                ? "MPI_(Init|Comm_split of all ranks) has not returned for [0-9.]+ s: a rank of the job has not"
                                        + " started, or is stopped; HINT"
                                : "rank 1 of 2 has not joined within 8000 ms; HINT: check that all ranks were started");
    }
}
