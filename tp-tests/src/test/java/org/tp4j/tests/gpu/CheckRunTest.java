package org.tp4j.tests.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.tp4j.tests.gpu.StageResult.Outcome;

/** Stages of a check as processes: how they end, what is read from them, and what becomes of the time. */
@DisabledOnOs(OS.WINDOWS)
class CheckRunTest {
    @TempDir
    private Path folder;

    private StageRunner runner;
    private final List<List<StageResult>> told = new ArrayList<>();

    @BeforeEach
    void makeRunner() {
        runner = new StageRunner(folder, folder.resolve("logs"));
    }

    private static Stage shell(String name, int limit, String script) {
        return Stage.of(name, limit, Math.min(limit, 1), List.of("sh", "-c", script));
    }

    private List<StageResult> run(long seconds, Stage... stages) {
        return new CheckRun(runner, seconds, told::add).run(List.of(stages));
    }

    @Test
    void shouldReadFiguresTalliesAndTheTail() {
        StageResult result = run(
                        30,
                        shell(
                                "a",
                                20,
                                "echo '{\"measure\": \"x\", \"ms\": 2}'; echo words; echo '3 passed, 0 failed, 2 skipped'"))
                .get(0);
        assertThat(result.outcome()).isEqualTo(Outcome.PASSED);
        assertThat(result.reason()).isEmpty();
        assertThat(result.figures()).hasSize(2);
        assertThat(result.figures().get(0).get("ms").asInt()).isEqualTo(2);
        assertThat(result.figures().get(1).get("passed").asInt()).isEqualTo(3);
        assertThat(result.tail()).containsExactly("words", "3 passed, 0 failed, 2 skipped");
    }

    @Test
    void shouldGoOnAfterAFailureAndSayWhatFailed() {
        List<StageResult> results = run(
                60,
                shell("fails", 20, "echo begin; echo 'java.lang.IllegalStateException: broken' >&2; echo end; exit 3"),
                Stage.of("missing", 20, 1, List.of("no-such-program-here")),
                shell("skips", 20, "echo nothing to do here; exit 77"),
                shell("passes", 20, "true"));
        assertThat(results)
                .extracting(StageResult::outcome)
                .containsExactly(Outcome.FAILED, Outcome.FAILED, Outcome.SKIPPED, Outcome.PASSED);
        assertThat(results.get(0).reason()).isEqualTo("exit code 3: java.lang.IllegalStateException: broken");
        assertThat(results.get(1).reason()).contains("no-such-program-here");
        assertThat(results.get(2).reason()).isEqualTo("nothing to do here");
        assertThat(results).extracting(StageResult::isGood).containsExactly(false, false, true, true);
        assertThat(told).hasSize(4);
        assertThat(told.get(1)).hasSize(2);
    }

    @Test
    void shouldEndAHungStageWithItsChildren() throws Exception {
        Path child = folder.resolve("child");
        StageResult result = run(30, shell("hangs", 1, "sleep 600 & echo $! >child; echo begun; wait"))
                .get(0);
        assertThat(result.outcome()).isEqualTo(Outcome.TIMEOUT);
        assertThat(result.seconds()).isLessThan(20);
        assertThat(result.tail()).containsExactly("begun");
        long pid = Long.parseLong(Files.readString(child).strip());
        Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() ->
                        ProcessHandle.of(pid).map(handle -> !handle.isAlive()).orElse(true));
    }

    @Test
    void shouldLeaveOutWhatNoLongerFits() {
        List<StageResult> results = run(
                2,
                Stage.of("long", 100, 50, List.of("true")),
                shell("short", 1, "true"),
                shell("cut", 100, "sleep 60"));
        assertThat(results)
                .extracting(StageResult::outcome)
                .containsExactly(Outcome.NO_TIME, Outcome.PASSED, Outcome.TIMEOUT);
        assertThat(results.get(0).reason()).contains("it needs 50");
        assertThat(results.get(0).isGood()).isFalse();
    }

    @Test
    void shouldAwaitABackgroundStage() {
        List<StageResult> results = run(
                60,
                shell("behind", 20, "sleep 0.5; echo made >made").inBackground(),
                shell("beside", 20, "test ! -e made"),
                shell("after", 20, "cat made").awaiting("behind"));
        assertThat(results).extracting(r -> r.stage().name()).containsExactly("beside", "behind", "after");
        assertThat(results).extracting(StageResult::outcome).containsOnly(Outcome.PASSED);
    }

    @Test
    void shouldEndABackgroundStageThatLeavesNoTime() {
        List<StageResult> results = run(
                4,
                shell("behind", 100, "sleep 600").inBackground(),
                shell("after", 2, "true").awaiting("behind"));
        assertThat(results).extracting(r -> r.stage().name()).containsExactly("behind", "after");
        assertThat(results).extracting(StageResult::outcome).containsExactly(Outcome.TIMEOUT, Outcome.PASSED);
    }

    @Test
    void shouldRefuseToPlantAFailureInAStageThatIsNot() {
        List<Stage> stages = List.of(shell("a", 1, "true"), shell("b", 1, "true"));
        assertThat(GpuCheckMain.planted(stages, "b").get(1).command()).endsWith("--planted-failure");
        assertThat(GpuCheckMain.planted(stages, "")).isEqualTo(stages);
        assertThatThrownBy(() -> GpuCheckMain.planted(stages, "b,c")).hasMessageContaining("[c]", "[a, b]");
    }
}
