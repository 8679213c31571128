package org.tp4j.comm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommunicationOptionsTest {
    private static final long YEAR_MS = 366L * 24 * 3600 * 1000;

    @AfterEach
    void clear() {
        System.clearProperty(CommunicationOptions.TIMEOUT);
        System.clearProperty(CommunicationOptions.START_TIMEOUT);
    }

    private static CommunicationOptions of(String timeout) {
        System.setProperty(CommunicationOptions.TIMEOUT, timeout);
        return CommunicationOptions.fromSystem();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e10", "Infinity", "-Infinity", "NaN", "0", "-1", "soon", "31622401"})
    void shouldRefuseATimeoutThatIsNone(String seconds) {
        assertThatThrownBy(() -> of(seconds))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("-Dtp4j.comm.timeoutSeconds=" + seconds
                        + "; HINT: a number of seconds, more than 0 and at most a year, 31622400");
    }

    @Test
    void shouldTakeTimeoutsUpToAYear() {
        assertThat(of("0.25").timeoutMs()).isEqualTo(250);
        assertThat(of("1e-9").timeoutMs()).isOne();
        assertThat(of("31622400").timeoutMs()).isEqualTo(YEAR_MS);
        assertThat(YEAR_MS).as("in nanoseconds").isLessThan(Long.MAX_VALUE / 1_000_000);
        assertThatThrownBy(() -> of("1").withTimeoutMs(YEAR_MS + 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most a year");
    }

    @Test
    void shouldLeaveRanksTimeToStart() {
        assertThat(of("2").startTimeoutMs()).isEqualTo(60_000);
        assertThat(of("100").startTimeoutMs()).isEqualTo(100_000);
        assertThat(of("2").withTimeoutMs(90_000).startTimeoutMs()).isEqualTo(90_000);
        System.setProperty(CommunicationOptions.START_TIMEOUT, "5");
        assertThat(of("100").startTimeoutMs()).isEqualTo(5_000);
    }
}
