package org.tp4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.TpException;

class CudaBackendProviderTest {
    @Test
    void shouldBeFoundAndSayWhyItCannotBeUsed() {
        assertThat(Backends.availability())
                .hasEntrySatisfying("cuda", why -> assertThat(why).contains("not part of this version"));
    }

    @Test
    void shouldRefuseADeviceInsteadOfFallingBack() {
        assertThatThrownBy(() -> Backends.of(new Device("cuda", 1)))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("cuda:1")
                .hasMessageContaining("HINT: use --device cpu");
    }
}
