package org.tp4j.tensor.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.tp4j.tensor.NativeLibraryException;
import org.tp4j.tensor.TpException;

class LibraryOutcomeTest {
    private static LibraryOutcome<String> failing(RuntimeException reason) {
        return LibraryOutcome.of("Nothing", () -> {
            throw reason;
        });
    }

    @Test
    void shouldKeepWhatWasOpened() {
        LibraryOutcome<String> outcome = LibraryOutcome.of("Something", () -> "version 1");
        assertThat(outcome.require()).isEqualTo("version 1");
        assertThat(outcome.unavailable()).isEmpty();
    }

    @Test
    void shouldSayWhatIsMissingAsOftenAsItIsAsked() {
        LibraryOutcome<String> outcome =
                failing(new NativeLibraryException("Nothing", List.of("/here (not there)"), "install it"));
        NativeLibraryException first = catchThrowableOfType(NativeLibraryException.class, outcome::require);
        NativeLibraryException second = catchThrowableOfType(NativeLibraryException.class, outcome::require);
        assertThat(first).isNotSameAs(second).hasMessage(second.getMessage());
        assertThat(first.tried()).containsExactly("/here (not there)");
        assertThat(outcome.unavailable()).contains(first.getMessage());
    }

    @Test
    void shouldNameTheLibraryForWhateverElseGoesWrong() {
        assertThatThrownBy(failing(new IllegalStateException("broken"))::require)
                .isInstanceOf(TpException.class)
                .hasMessageContaining("Nothing cannot be used")
                .hasMessageContaining("broken");
        LibraryOutcome<String> unlinked = LibraryOutcome.of("Nothing", () -> {
            throw new UnsatisfiedLinkError("no symbol");
        });
        assertThat(unlinked.unavailable())
                .hasValueSatisfying(why -> assertThat(why).contains("no symbol"));
    }

    @Test
    void shouldGiveTheReasonOfAClassThatCouldNotBeSetUp() {
        LibraryOutcome<String> outcome = LibraryOutcome.of("Nothing", () -> {
            throw new ExceptionInInitializerError(new TpException("built without its natives"));
        });
        assertThat(outcome.unavailable()).contains("built without its natives");
    }
}
