package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.tests.comm.FailureMain;

/**
 * Ranks over NCCL, started without MPI: one that dies, hangs, throws or disagrees ends the others within the timeout, with
 * the rank and the call named. The simulated NCCL hangs as the real one does; the watchdog is what ends them.
 */
@Timeout(240)
class NcclFailureTest {
    private static final double TIMEOUT_SECONDS = 2;
    private static final double END_SECONDS =
            120; // JVM starts on a busy machine included; who is late would be for minutes

    @TempDir
    Path records;

    @TempDir
    Path meeting;

    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    private List<RankProcesses.Result> run(int ranks, String how, int victim, String... jvm) throws Exception {
        List<RankProcesses.Result> results = new RankProcesses(ranks, FailureMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=" + TIMEOUT_SECONDS, "-Dtp4j.comm.flightRecord=" + records)
                .jvm("-D" + FailureMain.MEETING + "=" + meeting)
                .jvm(jvm)
                .args(how, String.valueOf(victim))
                .notWaitingFor(how.equals("stop") || how.equals("late") ? victim : -1)
                .run();
        double sum = ranks * (ranks + 1) / 2.0;
        for (int rank = 0; rank < ranks; rank++) {
            RankProcesses.Result result = results.get(rank);
            assertThat(result.exitCode())
                    .as("rank %d: %s", rank, result.output())
                    .isNotZero();
            assertThat(result.seconds()).as("rank %d", rank).isLessThan(END_SECONDS);
            assertThat(result.output()).contains("result 2: " + sum).doesNotContain("result 4");
            if (rank != victim) {
                assertThat(result.exitCode())
                        .as("rank %d: %s", rank, result.output())
                        .isOne();
            }
        }
        return results;
    }

    private List<String> flightRecords() throws IOException {
        List<String> texts = new ArrayList<>();
        try (Stream<Path> files = Files.list(records)) {
            for (Path file : files.toList()) {
                texts.add(Files.readString(file));
            }
        }
        return texts;
    }

    private static final String CALL = "in call 3 on group 'world': allReduce(sum, float32 [1])";

    @Test
    void shouldNameARankThatIsKilledAndLeaveRecords() throws Exception {
        List<RankProcesses.Result> results = run(3, "kill", 2);
        for (int rank : new int[] {0, 1}) {
            assertThat(results.get(rank).output())
                    .containsPattern("rank 2 is gone: its process [0-9]+ ended without a word")
                    .contains("rank " + rank + " needs it");
        }
        assertThat(flightRecords())
                .hasSize(2)
                .allMatch(text -> text.contains("FAILED  call 3 on group 'world': allReduce(sum, float32 [1])"));
    }

    @Test
    void shouldNameTheRankThatServesTheControlChannelWhenItIsStopped() throws Exception {
        List<RankProcesses.Result> results = run(2, "stop", 0);
        assertThat(results.get(1).output()).contains(CALL).contains("rank 0 is silent");
    }

    @Test
    void shouldNameARankThatIsLate() throws Exception {
        List<RankProcesses.Result> results = run(2, "late", 1);
        assertThat(results.get(0).output())
                .contains(CALL)
                .containsPattern("rank 1 is elsewhere: rank 1 has made 2 calls, the last call 2 on group 'world'");
    }

    @Test
    void shouldNameWhatRanksAskThatDisagree() throws Exception {
        List<RankProcesses.Result> results = run(2, "disagree", 1);
        assertThat(results)
                .anySatisfy(result -> assertThat(result.output())
                        .containsPattern("rank [01] made a different call: allReduce")
                        .contains("disagree on call 3"))
                .allSatisfy(result -> assertThat(result.output())
                        .contains("allReduce(sum, float32 [1])")
                        .contains("allReduce(sum, float32 [2])"));
    }

    @Test
    void shouldEndTheOthersAtOnceWhenARankThrows() throws Exception {
        List<RankProcesses.Result> results = run(3, "throw", 1, "-Dtp4j.comm.timeoutSeconds=100");
        assertThat(results.get(1).output()).contains("Caused by: java.lang.IllegalStateException: boom");
        for (int rank : new int[] {0, 2}) {
            assertThat(results.get(rank).output())
                    .contains("rank 1 has failed: java.lang.IllegalStateException: boom; rank " + rank + " needs it");
        }
    }

    private static String quote(String text) {
        return java.util.regex.Pattern.quote(text);
    }
}
