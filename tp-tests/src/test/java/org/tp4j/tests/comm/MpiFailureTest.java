package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process that throws, dies, hangs or disagrees ends the job with a message, within the timeout. */
@Timeout(240)
class MpiFailureTest {
    private static final double TIMEOUT_SECONDS = 2;
    private static final double END_SECONDS =
            120; // JVM starts on a busy machine included; who is late would be for minutes

    @TempDir
    Path records;

    @TempDir
    Path meeting;

    @BeforeAll
    static void needsMpi() {
        MpiRun.assumeAvailable();
    }

    private MpiRun.Result run(int ranks, String how, int victim, String... jvm) throws Exception {
        MpiRun.Result result = new MpiRun(ranks, FailureMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=" + TIMEOUT_SECONDS, "-Dtp4j.comm.flightRecord=" + records)
                .jvm("-D" + FailureMain.MEETING + "=" + meeting)
                .jvm(jvm)
                .args(how, String.valueOf(victim))
                .limitSeconds(150)
                .run();
        double sum = ranks * (ranks + 1) / 2.0;
        assertThat(result.exitCode()).as(result.output()).isNotZero().isNotEqualTo(-1);
        assertThat(result.seconds()).isLessThan(END_SECONDS);
        assertThat(result.output()).contains("result 2: " + sum).doesNotContain("result 4");
        return result;
    }

    private List<String> flightRecords() throws IOException {
        try (Stream<Path> files = Files.list(records)) {
            return files.map(file -> {
                        try {
                            return Files.readString(file);
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    })
                    .toList();
        }
    }

    @Test
    void shouldEndAllWhenARankThrowsAndShowItsException() throws Exception {
        MpiRun.Result result = run(4, "throw", 2);
        assertThat(result.output())
                .contains("rank 2 of 4 failed and ends the others")
                .contains("Caused by: java.lang.IllegalStateException: boom")
                .contains("its last calls are in " + records);
        assertThat(flightRecords())
                .anyMatch(text -> text.contains("flight record of rank 2: 2 calls")
                        && text.contains("DONE    call 2 on group 'world': allReduce(sum, float32 [1])"));
    }

    @Test
    void shouldEndAllWhenARankIsKilledAndLeaveTheOthersRecords() throws Exception {
        run(4, "kill", 2);
        assertThat(flightRecords())
                .anyMatch(text -> text.contains("rank 2 is gone: its process ")
                        && text.contains("call 3 on group 'world': allReduce(sum, float32 [1])"));
    }

    @Test
    void shouldNameTheRankThatServesTheControlChannelWhenItIsStopped() throws Exception {
        MpiRun.Result result = run(3, "stop", 0);
        assertThat(result.output()).contains("rank 0 is silent");
    }

    @Test
    void shouldNeverGiveAResultToRanksThatDisagree() throws Exception {
        MpiRun.Result result = run(2, "disagree", 1);
        assertThat(result.output()).doesNotContain("a result for a call").doesNotContain("result 3");
    }

    @Test
    void shouldNameBothSidesInCheckingMode() throws Exception {
        MpiRun.Result result = run(2, "disagree", 1, "-Dtp4j.checking=true");
        assertThat(result.output())
                .contains("rank 0 calls allReduce(sum, float32 [1])")
                .contains("rank 1 calls allReduce(sum, float32 [2])")
                .contains("FailureMain");
    }

    @Test
    void shouldRefuseAnotherNumberOfRanksThanWasLaunched() throws Exception {
        MpiRun.Result result =
                new MpiRun(2, WrongSizeMain.class).limitSeconds(60).run();
        assertThat(result.exitCode()).isNotZero();
        assertThat(result.output()).contains("3 ranks were requested, but mpirun has started 2; HINT: mpirun -np 3");
    }

    /** Asks for three ranks. */
    public static final class WrongSizeMain {
        private WrongSizeMain() {}

        /** Runs. */
        public static void main(String[] args) {
            org.tp4j.comm.launch.Launch.run(
                    org.tp4j.comm.launch.LaunchOptions.defaults().withRanks(3), world -> {});
        }
    }
}
