package org.tp4j.cuda.internal.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever was launched before, a launch is given its fields and zeros. */
class ArgumentsTest {
    private static final int SIZE = 64;

    @BeforeEach
    void launchSomethingFullOfOnes() {
        fill(Arguments.begin()).pointer();
    }

    private static Arguments fill(Arguments arguments) {
        for (int i = 0; i < SIZE / Long.BYTES; i++) {
            arguments.int64(-1);
        }
        return arguments;
    }

    private static byte[] launched(Arguments arguments) {
        arguments.pointer();
        byte[] bytes = new byte[SIZE];
        arguments.written().limit(SIZE).get(bytes);
        return bytes;
    }

    private static byte[] expected(int first, long second) {
        return ByteBuffer.allocate(SIZE)
                .order(ByteOrder.nativeOrder())
                .putInt(0, first)
                .putLong(8, second)
                .array();
    }

    @Test
    void shouldHaveZerosBetweenAndBehindTheFields() {
        assertThat(launched(Arguments.begin().int32(7).int64(8))).isEqualTo(expected(7, 8));
    }

    @Test
    void shouldForgetALaunchThatWasGivenUp() {
        launched(Arguments.begin().int32(7));
        fill(Arguments.begin()); // and never launched
        assertThat(launched(Arguments.begin().int32(7).int64(8))).isEqualTo(expected(7, 8));
    }
}
