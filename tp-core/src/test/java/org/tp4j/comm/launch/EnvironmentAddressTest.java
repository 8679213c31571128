package org.tp4j.comm.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.internal.control.ControlSecret;

class EnvironmentAddressTest {
    private static EnvironmentAddress read(String... pairs) {
        Map<String, String> environment = new HashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            environment.put(pairs[i], pairs[i + 1]);
        }
        return EnvironmentAddress.read(environment);
    }

    private static final String TEXT = "sixteen characters, or more";

    @Test
    void shouldReadWhatTorchrunSets() {
        EnvironmentAddress address = read("MASTER_ADDR", "gpu1", "MASTER_PORT", "29500", "TP4J_SECRET", TEXT);
        assertThat(address.host()).isEqualTo("gpu1");
        assertThat(address.port()).isEqualTo(29500);
    }

    @Test
    void shouldLeaveThePortToTorchrunsAgentWhereItListens() {
        assertThat(read("MASTER_ADDR", "localhost", "MASTER_PORT", "29500", "TORCHELASTIC_USE_AGENT_STORE", "True")
                        .port())
                .isEqualTo(29501);
    }

    @Test
    void shouldFollowFromSlurmsVariables() {
        EnvironmentAddress one = slurm("0");
        EnvironmentAddress two = slurm("1");
        assertThat(one.host()).isEqualTo("gpu03");
        assertThat(one.port()).isBetween(20_000, 39_999).isNotEqualTo(two.port());
    }

    private static EnvironmentAddress slurm(String step) {
        return read(
                "SLURM_STEP_NODELIST",
                "gpu[03-05,9]",
                "SLURM_JOB_ID",
                "4711",
                "SLURM_STEP_ID",
                step,
                "TP4J_SECRET",
                TEXT);
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

    private static String fingerprint(String... pairs) {
        return read(pairs).secret().fingerprint();
    }

    @Test
    void shouldKeepJobsApartWithoutASecretOnTheLoopbackAddress() {
        String one = fingerprint("MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "1", "WORLD_SIZE", "2");
        String same = fingerprint("MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "1", "WORLD_SIZE", "2");
        String other = fingerprint("MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "1", "WORLD_SIZE", "4");
        assertThat(one).isEqualTo(same).isNotEqualTo(other);
    }

    @ParameterizedTest
    @ValueSource(strings = {"192.0.2.1", "0.0.0.0", "no-such-host.invalid"})
    void shouldRefuseToRunUnprotectedOverANetwork(String host) {
        assertThatThrownBy(() -> read("MASTER_ADDR", host, "MASTER_PORT", "29500"))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("the control channel at " + host + ":29500 can be reached over the network")
                .hasMessageContaining("HINT: set TP4J_SECRET to the same random text")
                .hasMessageContaining("TP4J_SECRET_FILE to a file of mode 0600");
    }

    @Test
    void shouldTakeTheSecretThatIsSet() {
        assertThat(fingerprint("MASTER_ADDR", "h", "MASTER_PORT", "1", "TP4J_SECRET", TEXT))
                .isEqualTo(ControlSecret.of(TEXT).fingerprint());
        assertThatThrownBy(() -> read("MASTER_ADDR", "h", "MASTER_PORT", "1", "TP4J_SECRET", "short"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldTakeTheSecretOfAFileThatOnlyItsOwnerCanRead(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("secret"), TEXT + "\n");
        String[] variables = {"MASTER_ADDR", "h", "MASTER_PORT", "1", "TP4J_SECRET_FILE", file.toString()};
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        assertThat(fingerprint(variables)).isEqualTo(ControlSecret.of(TEXT).fingerprint());
        for (String mode : new String[] {"rw-r-----", "rw----r--", "rw--w----"}) {
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
            assertThatThrownBy(() -> read(variables))
                    .isInstanceOf(CommunicationException.class)
                    .hasMessageContaining("its mode is " + mode + "; HINT: chmod 600 " + file);
        }
        Files.delete(file);
        assertThatThrownBy(() -> read(variables)).hasMessageContaining("is missing or not a regular file");
        Path target = Files.writeString(folder.resolve("target"), TEXT);
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-------"));
        Files.createSymbolicLink(file, target);
        assertThatThrownBy(() -> read(variables)).hasMessageContaining("is missing or not a regular file");
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
