package org.tp4j.nccl.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tp4j.nccl.NcclConfig;
import org.tp4j.tensor.TpException;

class NcclSettingsTest {
    @AfterEach
    void forget() {
        System.clearProperty(NcclSettings.MIN_CTAS);
        System.clearProperty(NcclSettings.MAX_CTAS);
    }

    @Test
    void shouldLeaveBlocksToNcclUnlessTold() {
        int undefined = NcclConfig.NCCL_CONFIG_UNDEF_INT;
        assertThat(NcclSettings.config())
                .isEqualTo(NcclConfig.initializer().withBlocking(1).withCTAs(undefined, undefined));
    }

    @Test
    void shouldPassOnTheBoundsOfBlocks() {
        System.setProperty(NcclSettings.MIN_CTAS, "2");
        System.setProperty(NcclSettings.MAX_CTAS, "8");
        assertThat(NcclSettings.config().minCTAs()).isEqualTo(2);
        assertThat(NcclSettings.config().maxCTAs()).isEqualTo(8);
    }

    @Test
    void shouldRefuseBoundsThatCannotBe() {
        System.setProperty(NcclSettings.MIN_CTAS, "4");
        System.setProperty(NcclSettings.MAX_CTAS, "2");
        assertThatThrownBy(NcclSettings::config)
                .isInstanceOf(TpException.class)
                .hasMessageContaining("-Dtp4j.nccl.minCTAs=4 and -Dtp4j.nccl.maxCTAs=2")
                .hasMessageContaining("HINT: at least 1");
    }
}
