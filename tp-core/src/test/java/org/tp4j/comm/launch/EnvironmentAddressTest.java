package org.tp4j.comm.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.internal.control.ControlSecret;
import org.tp4j.comm.internal.control.ControlServer;

class EnvironmentAddressTest {
    private static final byte[] CHALLENGE = new byte[ControlServer.CHALLENGE_BYTES];

    private static EnvironmentAddress read(String... pairs) {
        Map<String, String> environment = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            environment.put(pairs[i], pairs[i + 1]);
        }
        return EnvironmentAddress.read(environment);
    }

    @Test
    void shouldReadWhatTorchrunSets() {
        EnvironmentAddress address = read("MASTER_ADDR", "gpu1", "MASTER_PORT", "29500");
        assertThat(address.host()).isEqualTo("gpu1");
        assertThat(address.port()).isEqualTo(29500);
    }

    @Test
    void shouldLeaveThePortToTorchrunsAgentWhereItListens() {
        assertThat(read("MASTER_ADDR", "gpu1", "MASTER_PORT", "29500", "TORCHELASTIC_USE_AGENT_STORE", "True")
                        .port())
                .isEqualTo(29501);
    }

    @Test
    void shouldFollowFromSlurmsVariables() {
        EnvironmentAddress one =
                read("SLURM_STEP_NODELIST", "gpu[03-05,9]", "SLURM_JOB_ID", "4711", "SLURM_STEP_ID", "0");
        EnvironmentAddress two =
                read("SLURM_STEP_NODELIST", "gpu[03-05,9]", "SLURM_JOB_ID", "4711", "SLURM_STEP_ID", "1");
        assertThat(one.host()).isEqualTo("gpu03");
        assertThat(one.port()).isBetween(20_000, 39_999).isNotEqualTo(two.port());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "gpu7 | gpu7",
                "gpu7,gpu8 | gpu7",
                "gpu[7-9],login | gpu7",
                "a,b[1-2] | a",
                "rack2-gpu[010-012] | rack2-gpu010"
            })
    void shouldFindTheFirstOfSlurmsNodes(String list, String first) {
        assertThat(EnvironmentAddress.firstNode(list)).isEqualTo(first);
    }

    @Test
    void shouldKeepJobsApartWithoutASecret() {
        byte[] one = read("MASTER_ADDR", "h", "MASTER_PORT", "1", "WORLD_SIZE", "2")
                .secret()
                .answer(CHALLENGE);
        byte[] same = read("MASTER_ADDR", "h", "MASTER_PORT", "1", "WORLD_SIZE", "2")
                .secret()
                .answer(CHALLENGE);
        byte[] other = read("MASTER_ADDR", "h", "MASTER_PORT", "1", "WORLD_SIZE", "4")
                .secret()
                .answer(CHALLENGE);
        assertThat(one).isEqualTo(same).isNotEqualTo(other);
    }

    @Test
    void shouldTakeTheSecretThatIsSet() {
        String text = "sixteen characters, or more";
        assertThat(read("MASTER_ADDR", "h", "MASTER_PORT", "1", "TP4J_SECRET", text)
                        .secret()
                        .answer(CHALLENGE))
                .isEqualTo(ControlSecret.of(text).answer(CHALLENGE));
        assertThatThrownBy(() -> read("MASTER_ADDR", "h", "MASTER_PORT", "1", "TP4J_SECRET", "short"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldSayWhatIsMissing() {
        assertThatThrownBy(EnvironmentAddressTest::read)
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("HINT: set MASTER_ADDR and MASTER_PORT");
        assertThatThrownBy(() -> read("MASTER_ADDR", "h"))
                .hasMessageContaining("MASTER_PORT does not say")
                .hasMessageContaining("HINT: set it to a port that is free");
        assertThatThrownBy(() -> read("MASTER_ADDR", "h", "MASTER_PORT", "70000"))
                .hasMessage("MASTER_PORT is '70000'; HINT: a number from 1 to 65535");
    }
}
