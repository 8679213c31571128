package org.tp4j.tests.comm;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Memory, threads and descriptors stay the same, however long ranks run: short here, long with scripts/test.sh --soak. */
@Timeout(3600)
class SoakTest {
    private static final Pattern HELD = Pattern.compile("@held ([0-9]+) ([0-9]+)");
    private static final Pattern LEFT = Pattern.compile("@(before|after) ([0-9]+) ([0-9]+)");
    private static final long SLACK_BYTES = 3L << 20; // code that is compiled, classes that are loaded late
    private static final int SLACK_COUNT = 8; // threads of the compiler and the garbage collector come and go

    private static void train(RankRun.Way way, int steps, String scopes) throws Exception {
        RankRun.assume(way);
        RankRun.Result result = new RankRun(way, 2, SoakMain.class)
                .jvm("-Xmx64m", "-Dtp4j.comm.timeoutSeconds=100")
                .args(String.valueOf(steps), scopes)
                .limitSeconds(1800)
                .run();
        assertThat(result.exitCodes()).as(result.output()).containsOnly(0);
        List<Long> held = new ArrayList<>();
        Matcher line = HELD.matcher(result.output());
        while (line.find()) {
            held.add(Long.parseLong(line.group(2)));
        }
        assertThat(held).as(result.output()).hasSize(10);
        // The first tenth warms up. Between the others there are thousands of steps, or hundreds in the short run.
        assertThat(held.get(9) - held.get(1)).as("growth of %s", held).isLessThan(SLACK_BYTES);
    }

    private static void open(RankRun.Way way, int worlds) throws Exception {
        RankRun.assume(way);
        RankRun.Result result = new RankRun(way, 2, WorldsMain.class)
                .jvm("-Dtp4j.comm.timeoutSeconds=100")
                .args(String.valueOf(worlds))
                .limitSeconds(900)
                .run();
        assertThat(result.exitCodes()).as(result.output()).containsOnly(0);
        Matcher line = LEFT.matcher(result.output());
        int[] before = new int[2];
        int[] after = new int[2];
        int lines = 0;
        while (line.find()) { // of several processes the largest
            int[] counts = line.group(1).equals("before") ? before : after;
            counts[0] = Math.max(counts[0], Integer.parseInt(line.group(2)));
            counts[1] = Math.max(counts[1], Integer.parseInt(line.group(3)));
            lines++;
        }
        assertThat(lines).as(result.output()).isIn(2, 4);
        assertThat(after[0] - before[0]).as("threads: %s", result.output()).isLessThan(SLACK_COUNT);
        assertThat(after[1] - before[1]).as("descriptors: %s", result.output()).isLessThan(SLACK_COUNT);
    }

    @ParameterizedTest
    @CsvSource({"THREADS, none", "MPI, scopes"})
    void shouldTrainForAWhileInLittleMemory(RankRun.Way way, String scopes) throws Exception {
        train(way, 1000, scopes);
    }

    @ParameterizedTest
    @CsvSource({"THREADS", "MPI", "THREADS_NCCL"})
    void shouldLeaveNothingOfSomeWorlds(RankRun.Way way) throws Exception {
        open(way, 30);
    }

    @Test
    void shouldTellWhoForgetsToCloseScopes() throws Exception {
        RankRun.Result result = new RankRun(RankRun.Way.THREADS, 1, SoakMain.class)
                .jvm("-Xmx64m")
                .args("100000", "forgotten")
                .run();
        assertThat(result.exitCodes()).as(result.output()).containsExactly(1);
        assertThat(result.output())
                .contains("OutOfMemoryException: out of memory on cpu: ")
                .containsPattern(
                        "[0-9]+ scopes are open on thread 'rank-0', .*; HINT: .*Scope.open.*try-with-resources");
    }

    @Tag("soak")
    @ParameterizedTest
    @CsvSource({
        "THREADS, 20000, none",
        "THREADS, 20000, scopes",
        "MPI, 5000, none",
        "MPI, 5000, scopes",
        "ENV_NCCL, 5000, none",
        "ENV_NCCL, 5000, scopes"
    })
    void shouldTrainForLongInLittleMemory(RankRun.Way way, int steps, String scopes) throws Exception {
        train(way, steps, scopes);
    }

    @Tag("soak")
    @ParameterizedTest
    @CsvSource({"THREADS", "MPI", "THREADS_NCCL"})
    void shouldLeaveNothingOfManyWorlds(RankRun.Way way) throws Exception {
        open(way, 500);
    }
}
