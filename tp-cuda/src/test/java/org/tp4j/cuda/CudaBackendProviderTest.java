package org.tp4j.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.tp4j.tensor.Backends;
import org.tp4j.tensor.Device;
import org.tp4j.tensor.TpException;

class CudaBackendProviderTest {
    @BeforeEach
    void onlyWithoutADriver() {
        assumeThat(CudaLibraries.unavailable())
                .as("no driver here: what is said without one")
                .isPresent();
    }

    @Test
    void shouldBeFoundAndSayWhyItCannotBeUsed() {
        assertThat(Backends.availability())
                .hasEntrySatisfying("cuda", why -> assertThat(why).contains("NVIDIA driver"));
    }

    @Test
    void shouldRefuseADeviceInsteadOfFallingBack() {
        assertThatThrownBy(() -> Backends.of(new Device("cuda", 1)))
                .isInstanceOf(TpException.class)
                .hasMessageContaining("libcuda.so.1")
                .hasMessageContaining("use --device cpu");
    }
}
