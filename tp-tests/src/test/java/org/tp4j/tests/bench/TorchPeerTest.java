package org.tp4j.tests.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The other side of a comparison: the protocol, and what happens if it is absent. */
@DisabledOnOs(OS.WINDOWS)
class TorchPeerTest {
    private static final Pace PACE = new Pace(0, 1, 3);

    /** Answers the n-th question with the n-th line, and then ends. */
    private static TorchPeer answering(String... answers) {
        StringBuilder script = new StringBuilder();
        for (String answer : answers) {
            script.append("read question; echo '").append(answer).append("'\n");
        }
        return TorchPeer.start(List.of("sh", "-c", script.toString()));
    }

    @Test
    void shouldAlternateWithTheOtherSide() {
        String dropped = "{\"dropped\": \"theirs\"}";
        try (TorchPeer peer = answering("{\"calls\": 2}", "{\"ms\": 3}", "{\"ms\": 1}", "{\"ms\": 2}", dropped)) {
            Contest contest =
                    new Contest(PACE).run(List.of(peer.contender("theirs", Map.of("what", "x"), PACE, 10_000)));
            assertThat(contest.medianMs("theirs")).isEqualTo(2);
            assertThat(contest.addTo(new Report()).toString()).contains("\"theirs_ms\":2.0,\"theirs_min_ms\":1.0");
        }
    }

    @Test
    void shouldReportWhyTheOtherSideIsAbsentAndMeasureTheRest() {
        Contender ours = new Contender() {
            @Override
            public String name() {
                return "ours";
            }

            @Override
            public void warmUp() {}

            @Override
            public double time() {
                return 0.5;
            }
        };
        Contender broken = new Contender() {
            @Override
            public String name() {
                return "broken";
            }

            @Override
            public void warmUp() {
                throw new IllegalStateException("no kernel");
            }

            @Override
            public double time() {
                throw new AssertionError();
            }
        };
        try (TorchPeer peer = answering("{\"error\": \"no PyTorch\"}")) {
            Contest contest = new Contest(PACE)
                    .run(List.of(broken, peer.contender("theirs", Map.of("what", "x"), PACE, 10_000), ours));
            assertThat(contest.hasFailures()).isTrue();
            assertThat(contest.has("theirs")).isFalse();
            assertThat(contest.addTo(new Report()).toString())
                    .contains("\"ours_ms\":0.5", "\"theirs_absent\":\"no PyTorch\"", "\"broken_failed\"", "no kernel");
        }
    }

    @Test
    void shouldEndAPeerThatDoesNotAnswer() {
        try (TorchPeer peer = TorchPeer.start(List.of("sleep", "600"))) {
            assertThatThrownBy(() -> peer.ask(Map.of("do", "versions"), 1_000))
                    .isInstanceOf(PeerException.class)
                    .hasMessageContaining("no answer within 1 s");
            assertThatThrownBy(() -> peer.ask(Map.of("do", "op"), 600_000))
                    .hasMessageContaining("no answer within 1 s");
        }
    }

    @Test
    void shouldSayWhyAPeerCannotBeStarted() {
        try (TorchPeer none = TorchPeer.start(List.of());
                TorchPeer missing = TorchPeer.start(List.of("no-such-program-here"));
                TorchPeer dies = TorchPeer.start(List.of("true"))) {
            assertThatThrownBy(() -> none.ask(Map.of(), 10)).hasMessage("not asked for");
            assertThatThrownBy(() -> missing.ask(Map.of(), 10)).hasMessageContaining("no-such-program-here");
            assertThatThrownBy(() -> dies.ask(Map.of("do", "x"), 60_000)).hasMessageContaining("ended");
        }
    }

    /** The script itself, where there is a Python: without PyTorch or a GPU it says so and answers on. */
    @Test
    void shouldRunTheRealScript() throws Exception {
        org.junit.jupiter.api.Assumptions.assumeTrue(
                new ProcessBuilder("sh", "-c", "command -v python3").start().waitFor() == 0, "no python3");
        Path script = Path.of(System.getProperty("tp.root"), "scripts", "torch_mlp.py");
        try (TorchPeer peer = TorchPeer.start(List.of("python3", script.toString(), "--serve", "--device", "cpu"))) {
            try {
                assertThat(peer.ask(Map.of("do", "versions"), 60_000).has("torch"))
                        .isTrue();
            } catch (PeerException e) {
                assertThat(e).hasMessageContaining("no PyTorch");
            }
            assertThatThrownBy(() -> peer.ask(Map.of("do", "nonsense", "id", "x"), 60_000))
                    .isInstanceOf(PeerException.class);
        }
    }
}
