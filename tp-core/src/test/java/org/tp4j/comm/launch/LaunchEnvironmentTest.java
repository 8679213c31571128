package org.tp4j.comm.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.CommunicationException;

class LaunchEnvironmentTest {
    @Test
    void shouldReadOpenMpi() {
        LaunchEnvironment found = LaunchEnvironment.read(Map.of(
                        "OMPI_COMM_WORLD_RANK", "3",
                        "OMPI_COMM_WORLD_SIZE", "8",
                        "OMPI_COMM_WORLD_LOCAL_RANK", "1",
                        "OMPI_COMM_WORLD_LOCAL_SIZE", "2",
                        "SLURM_PROCID", "0",
                        "SLURM_STEP_NUM_TASKS", "1"))
                .orElseThrow();
        assertThat(found).isEqualTo(new LaunchEnvironment("openmpi", 3, 8, 1, 2));
        assertThat(found.isMpi()).isTrue();
    }

    @Test
    void shouldReadPmiSlurmAndTorchrun() {
        assertThat(LaunchEnvironment.read(Map.of("PMI_RANK", "0", "PMI_SIZE", "2")))
                .contains(new LaunchEnvironment("pmi", 0, 2, -1, -1));
        assertThat(LaunchEnvironment.read(
                        Map.of("SLURM_PROCID", "5", "SLURM_STEP_NUM_TASKS", "6", "SLURM_LOCALID", "1")))
                .contains(new LaunchEnvironment("slurm", 5, 6, 1, -1));
        LaunchEnvironment torchrun = LaunchEnvironment.read(
                        Map.of("RANK", "1", "WORLD_SIZE", "2", "LOCAL_RANK", "1", "LOCAL_WORLD_SIZE", "2"))
                .orElseThrow();
        assertThat(torchrun).isEqualTo(new LaunchEnvironment("torchrun", 1, 2, 1, 2));
        assertThat(torchrun.isMpi()).isFalse();
    }

    @Test
    void shouldSeeNoRankInHalfOrNonsense() {
        assertThat(LaunchEnvironment.read(Map.of())).isEmpty();
        assertThat(LaunchEnvironment.read(Map.of("RANK", "1"))).isEmpty();
        assertThat(LaunchEnvironment.read(Map.of("RANK", "two", "WORLD_SIZE", "2")))
                .isEmpty();
        assertThat(LaunchEnvironment.read(Map.of("RANK", "2", "WORLD_SIZE", "2")))
                .isEmpty();
    }

    @Test
    void shouldNeverRunOneOfSeveralRanksAlone() {
        assertThatThrownBy(() -> Launch.choose(LaunchOptions.defaults(), Map.of("RANK", "1", "WORLD_SIZE", "2")))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("started by torchrun as rank 1 of 2")
                .hasMessageContaining("HINT: start it with mpirun");
    }

    @Test
    void shouldSayWhichLaunchersThereAre() {
        assertThatThrownBy(() -> Launch.choose(LaunchOptions.defaults().withLauncher("pigeon"), Map.of()))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("no launcher 'pigeon'")
                .hasMessageContaining("HINT");
    }
}
