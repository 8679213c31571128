package org.tp4j.tests.parity;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.tests.BiasBeforeReduction;
import org.tp4j.tests.cuda.OnCuda;
import org.tp4j.tests.run.RankOptions;

/** A short parity table, and one with a mistake in it. */
class ParityTest {
    /** One of each kind; the script runs them all. */
    private static final Set<String> SHORT = Set.of(
            "MLP, bias",
            "SwiGLU, hidden size 7",
            "MLP, hidden size 2",
            "dropout, sequence-parallel",
            "embedding, tied head, cross entropy");

    private static List<String> run(List<Configuration> configurations, Integer... ranks) {
        return run("cpu", configurations, ranks);
    }

    private static List<String> run(String device, List<Configuration> configurations, Integer... ranks) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ParityMain.run(
                configurations,
                RankOptions.of("threads", device, ranks),
                new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8).lines().toList();
    }

    @Test
    void shouldComputeWhatOneRankComputes() {
        List<Configuration> few = Configurations.all().stream()
                .filter(c -> SHORT.contains(c.name()))
                .toList();
        List<String> lines = run(few, 1, 2, 3);
        assertThat(few).hasSameSizeAs(SHORT);
        assertThat(lines).last().isEqualTo("30 passed, 0 failed, 0 skipped");
    }

    @Test
    void shouldComputeOnDevicesWhatOneRankComputes() {
        OnCuda.device(3);
        List<Configuration> few = Configurations.all().stream()
                .filter(c -> SHORT.contains(c.name()))
                .toList();
        assertThat(run("cuda", few, 1, 2, 3, 4)).last().isEqualTo("40 passed, 0 failed, 0 skipped");
    }

    @Test
    void shouldFailWhenTheRowBiasIsAddedBeforeTheReduction() {
        Configuration right = Configurations.all().get(0);
        Configuration wrong = new Configuration(
                "planted",
                right.task(),
                right.model(),
                Map.of("up_proj", new ColwiseParallel(), "down_proj", new BiasBeforeReduction()));
        List<String> lines = run(List.of(wrong), 2);
        assertThat(lines)
                .filteredOn(line -> line.startsWith("FAIL"))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).contains("planted", "output: output differs by ", "gradients: "));
        assertThat(lines).last().isEqualTo("0 passed, 2 failed, 0 skipped");
    }
}
