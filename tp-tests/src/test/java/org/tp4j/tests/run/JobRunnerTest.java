package org.tp4j.tests.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.World;

/** One outcome for all ranks. */
class JobRunnerTest {
    private record Named(String name, Function<World, Outcome> body) implements Job {
        @Override
        public Outcome run(World world) {
            return body.apply(world);
        }
    }

    private static List<String> run(Job... jobs) {
        List<String> lines = new ArrayList<>();
        new JobRunner(RankOptions.of("threads", "cpu"))
                .run(2, List.of(jobs), (job, outcome) -> lines.add(outcome.line(job.name(), 2)));
        return lines;
    }

    @Test
    void shouldReportTheLargestErrorOfAllRanks() {
        assertThat(run(new Named("a", world -> Outcome.pass(world.rank() * 0.5, "way"))))
                .containsExactly("PASS a T=2 max error 5.00e-01 (way)");
    }

    @Test
    void shouldFailWhenAnotherRankFails() {
        assertThat(run(new Named(
                        "a", world -> world.rank() == 0 ? Outcome.pass(0, "") : Outcome.fail(3, "too far off"))))
                .containsExactly("FAIL a T=2 max error 3.00e+00: on another rank than 0, which has max error 0");
    }

    @Test
    void shouldNameWhatARankThrewAndRunTheNextJob() {
        Job broken = new Named("broken", world -> {
            if (world.rank() == 1) {
                throw new IllegalStateException("rank 1 had enough\nand more");
            }
            world.group().barrier();
            return Outcome.pass(0, "");
        });
        assertThat(run(broken, new Named("next", world -> Outcome.skip("no need"))))
                .containsExactly("FAIL broken T=2: IllegalStateException: rank 1 had enough", "SKIP next T=2: no need");
    }

    @Test
    void shouldRefuseRanksThatCannotBeHad() {
        assertThatThrownBy(() -> RankOptions.of("threads", "cpu", 0).counts())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("--ranks asks for 0 ranks");
        assertThatThrownBy(() -> RankOptions.of("carrier pigeon", "cpu", 1).check())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("no launcher 'carrier pigeon'");
        assertThatThrownBy(() -> RankOptions.of("mpi", "cpu", 1).check())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("HINT: the script does it");
    }
}
