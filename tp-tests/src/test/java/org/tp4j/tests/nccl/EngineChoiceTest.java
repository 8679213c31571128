package org.tp4j.tests.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.CommunicationException;
import org.tp4j.comm.CommunicationOptions;
import org.tp4j.comm.engine.GroupEngine;
import org.tp4j.comm.engine.GroupEngines;

/** What carries the collectives of which ranks. */
class EngineChoiceTest {
    private static final CommunicationOptions AUTO =
            CommunicationOptions.fromSystem().withEngine(CommunicationOptions.AUTO);

    @BeforeAll
    static void needsSimulator() {
        Simulator.assumeBuilt();
    }

    @Test
    void shouldTakeNcclForRanksWithADeviceEach() {
        assertThat(GroupEngines.choose("cuda", 2, true, AUTO))
                .map(GroupEngine::name)
                .contains("nccl");
        assertThat(GroupEngines.choose("cuda", 2, true, AUTO.withEngine("nccl")))
                .isPresent();
    }

    @Test
    void shouldTakeTheHostsMemoryForRanksThatShareADeviceAndForTheCpu() {
        assertThat(GroupEngines.choose("cuda", 2, false, AUTO)).isEmpty();
        assertThat(GroupEngines.choose("cpu", 2, true, AUTO)).isEmpty();
        assertThat(GroupEngines.choose("cuda", 2, true, AUTO.withEngine("host")))
                .isEmpty();
    }

    @Test
    void shouldRefuseWhatWasAskedForAndCannotBe() {
        assertThatThrownBy(() -> GroupEngines.choose("cuda", 3, false, AUTO.withEngine("nccl")))
                .isInstanceOf(CommunicationException.class)
                .hasMessageContaining("engine nccl needs a device for each of the 3 ranks")
                .hasMessageContaining("HINT: start fewer ranks, or -Dtp4j.comm.engine=auto");
        assertThatThrownBy(() -> GroupEngines.choose("cpu", 2, true, AUTO.withEngine("nccl")))
                .hasMessageContaining("no engine 'nccl' for device type 'cpu'")
                .hasMessageContaining("HINT: -Dtp4j.comm.engine=auto");
        assertThatThrownBy(() -> GroupEngines.choose("cuda", 2, true, AUTO.withEngine("gloo")))
                .hasMessageContaining("which has [nccl (for cuda)]");
    }
}
