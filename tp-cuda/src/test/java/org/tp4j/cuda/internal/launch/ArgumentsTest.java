package org.tp4j.cuda.internal.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;
import org.tp4j.cuda.internal.arguments.ArgumentStruct;

/** A launch sets every field of its struct, each at its place. */
class ArgumentsTest {
    private static final Inner INNER = new Inner();
    private static final Outer OUTER = new Outer();

    private static final class Inner extends ArgumentStruct {
        final IntField n = int32("n");
        final PointerField p = pointer("float", "p");

        Inner() {
            super("Inner");
        }
    }

    private static final class Outer extends ArgumentStruct {
        final IntField n = int32("n");
        final DoubleField x = float64("x");
        final IntField m = int32("m");
        final ArrayField<Inner> inner = array("inner", INNER, 3);

        Outer() {
            super("Outer");
        }
    }

    private static final class Full extends ArgumentStruct {
        final BoxField divisors = box("divisors");

        Full() {
            super("Full");
        }
    }

    @Test
    void shouldWriteEachFieldAtItsPlaceWhateverTheOrder() {
        Arguments arguments = Arguments.of(OUTER)
                .set(OUTER.m, 3)
                .set(OUTER.x, 2.5)
                .set(OUTER.n, 1)
                .element(OUTER.inner, 1)
                .set(INNER.p, 77L)
                .set(INNER.n, 5);
        arguments.pointer();
        ByteBuffer written = arguments.written(OUTER.bytes());
        assertThat(written.getInt(0)).isEqualTo(1);
        assertThat(written.getDouble(8)).isEqualTo(2.5);
        assertThat(written.getInt(16)).isEqualTo(3);
        assertThat(written.getInt(24 + 16)).isEqualTo(5);
        assertThat(written.getLong(24 + 16 + 8)).isEqualTo(77);
        assertThat(OUTER.bytes()).isEqualTo(24 + 3 * 16);
    }

    @Test
    void shouldHaveZerosWhereNoFieldIsWhateverWasLaunchedBefore() {
        for (int launch = 0; launch < 2; launch++) {
            Full full = new Full();
            Arguments.of(full).set(full.divisors, box()).pointer();
            fillOuter(2);
            Arguments arguments = fillOuter(1);
            arguments.pointer();
            ByteBuffer written = arguments.written(OUTER.bytes());
            assertThat(written.getInt(4)).isZero();
            assertThat(written.getInt(20)).isZero();
            assertThat(written.getInt(24 + 4)).isZero();
            assertThat(written.limit(OUTER.bytes()).position(24 + 16).slice()).isEqualTo(ByteBuffer.allocate(32));
            Arguments.of(OUTER).set(OUTER.n, -1); // given up
        }
    }

    private static StridedBox box() {
        return StridedBox.of(new long[] {7, 5, 3}, new long[] {-1, -1, -1});
    }

    private static Arguments fillOuter(int elements) {
        Arguments arguments =
                Arguments.of(OUTER).set(OUTER.n, -1).set(OUTER.x, -1).set(OUTER.m, -1);
        for (int i = 0; i < elements; i++) {
            arguments.element(OUTER.inner, i).set(INNER.n, -1).set(INNER.p, -1L);
        }
        return arguments;
    }

    @Test
    void shouldRefuseALaunchThatLeavesAFieldOut() {
        Arguments.of(OUTER).set(OUTER.n, 1).set(OUTER.x, 2).set(OUTER.m, 3).pointer();
        Arguments forgetful = Arguments.of(OUTER).set(OUTER.x, 2).set(OUTER.x, 2);
        assertThatThrownBy(forgetful::pointer)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("a launch with Outer does not set n, m;")
                .hasMessageContaining("HINT: Arguments.of(struct) is followed by a set of each field");
    }

    @Test
    void shouldRefuseAnElementThatLeavesAFieldOut() {
        Arguments forgetful = Arguments.of(OUTER)
                .set(OUTER.n, 1)
                .set(OUTER.x, 2)
                .set(OUTER.m, 3)
                .element(OUTER.inner, 0)
                .set(INNER.n, 5);
        assertThatThrownBy(() -> forgetful.element(OUTER.inner, 1)).hasMessageContaining("Inner does not set p;");
    }

    @Test
    void shouldRefuseAStructThatNoLaunchCanPass() {
        class TooLarge extends ArgumentStruct {
            TooLarge() {
                super("TooLarge");
                array("inner", INNER, 300);
            }
        }
        assertThatThrownBy(TooLarge::new)
                .hasMessageContaining("TooLarge.inner ends at byte 4800")
                .hasMessageContaining("at most 4096")
                .hasMessageContaining("HINT: pass a pointer");
    }
}
