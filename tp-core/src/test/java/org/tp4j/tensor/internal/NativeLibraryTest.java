package org.tp4j.tensor.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.tp4j.tensor.NativeLibraryException;

class NativeLibraryTest {
    @RepeatedTest(3)
    void shouldSayTheSameEachTimeWhenAModuleWasBuiltWithoutIt() {
        NativeLibraryException e = catchThrowableOfType(
                NativeLibraryException.class, () -> NativeLibrary.load(NativeLibraryTest.class, "tp4j_nothing"));
        assertThat(e)
                .hasMessageContaining(System.mapLibraryName("tp4j_nothing"))
                .hasMessageContaining("/native/" + NativeLibrary.platform())
                .hasMessageContaining("HINT: it is compiled by the build where a C compiler is found");
        assertThat(e.tried()).hasSize(1);
    }

    @Test
    void shouldNamePlatformsAsTheBuildDoes() {
        assertThat(NativeLibrary.platform()).matches("(linux|macosx|windows)-[a-z0-9_]+");
    }
}
