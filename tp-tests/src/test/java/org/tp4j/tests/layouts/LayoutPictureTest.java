package org.tp4j.tests.layouts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.engine.FakeGroup;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutPicture;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.meta.MetaBackend;

class LayoutPictureTest {
    private static final DeviceMesh FOUR = mesh(Map.entry("tp", 4));
    private static final DeviceMesh TWO_BY_TWO = mesh(Map.entry("dp", 2), Map.entry("tp", 2));
    private static final DeviceMesh CUBE = mesh(Map.entry("a", 2), Map.entry("b", 3), Map.entry("c", 2));

    @SafeVarargs
    private static DeviceMesh mesh(Map.Entry<String, Integer>... axes) {
        int ranks = List.of(axes).stream().mapToInt(Map.Entry::getValue).reduce(1, (a, b) -> a * b);
        return DeviceMesh.of(new FakeGroup(0, ranks), MetaBackend.get(), List.of(axes));
    }

    private static String picture(Shape shape, DeviceMesh mesh, Placement... placements) {
        return LayoutPicture.of(shape, Layout.of(mesh, shape.dims(), placements));
    }

    @Test
    void shouldShowUnevenAndEmptyPieces() {
        assertThat(picture(Shape.of(5, 4), FOUR, Placement.shard(0))).isEqualTo("""
                        [5, 4] laid out [tp: Shard(0)] on (tp=4)
                        dim 0 down, dim 1 across
                                0..3
                              +------+
                        0..1  | r0   |
                              +------+
                        2..3  | r1   |
                              +------+
                        4     | r2   |
                              +------+
                        nothing on r3
                        """);
    }

    @Test
    void shouldShowOneDimensionAcross() {
        assertThat(picture(Shape.of(7), FOUR, Placement.shard(0))).isEqualTo("""
                        [7] laid out [tp: Shard(0)] on (tp=4)
                          0..1   2..3   4..5   6
                        +------+------+------+----+
                        | r0   | r1   | r2   | r3 |
                        +------+------+------+----+
                        """);
    }

    @Test
    void shouldShowNestedCutsInTheirOrder() {
        Layout layout = Layout.of(TWO_BY_TWO, 1, Placement.shard(0), Placement.shard(0));
        assertThat(LayoutPicture.of(Shape.of(5), layout)).contains("| r0   | r1 | r2 | r3 |");
        assertThat(LayoutPicture.of(Shape.of(5), layout.withCutOrder("tp", "dp")))
                .contains("cut in the order tp, dp")
                .contains("| r0   | r2 | r1 | r3 |");
    }

    @Test
    void shouldShowCutsOfTwoDimensions() {
        assertThat(picture(Shape.of(5, 6), TWO_BY_TWO, Placement.shard(0), Placement.shard(1)))
                .endsWith("""
                                0..2   3..5
                              +------+------+
                        0..2  | r0   | r1   |
                              +------+------+
                        3..4  | r2   | r3   |
                              +------+------+
                        """);
    }

    @Test
    void shouldTellCopiesFromTermsOfASum() {
        assertThat(picture(Shape.of(4, 6), TWO_BY_TWO, Placement.shard(0), Placement.partial()))
                .contains("0..1  | r0 + r1 |")
                .contains("2..3  | r2 + r3 |");
        assertThat(picture(Shape.of(6), CUBE, Placement.partial(), Placement.shard(0), Placement.replicate()))
                .contains("| r0,r1 + r6,r7 | r2,r3 + r8,r9 | r4,r5 + r10,r11 |");
        assertThat(picture(Shape.of(3), FOUR, Placement.invariant())).contains("| r0..r3 |");
        assertThat(picture(Shape.scalar(), FOUR, Placement.partial())).isEqualTo("""
                        [] laid out [tp: Partial] on (tp=4)
                        +-------------------+
                        | r0 + r1 + r2 + r3 |
                        +-------------------+
                        """);
        assertThat(picture(Shape.scalar(), FOUR, new Placement.Partial(ReduceOp.MAX)))
                .contains("| r0 max r1 max r2 max r3 |");
    }

    @Test
    void shouldShowWholeUnits() {
        assertThat(picture(Shape.of(2, 12), FOUR, new Placement.Shard(1, 4)))
                .contains("0..3   4..7   8..11")
                .contains("| r0   | r1   | r2    |")
                .endsWith("nothing on r3\n");
    }

    @Test
    void shouldListWhatIsCutAlongMoreThanTwoDimensions() {
        assertThat(picture(Shape.of(5, 2, 2), CUBE, Placement.shard(2), Placement.shard(1), Placement.shard(0)))
                .contains("r0: [0..2, 0, 0]\n")
                .contains("r9: [3..4, 1, 1]\n")
                .contains("r10: nothing\n");
    }

    @Test
    void shouldSayThatThereIsNothingToShow() {
        assertThat(picture(Shape.of(5, 0), FOUR, Placement.shard(0))).endsWith("there are no elements\n");
        assertThatThrownBy(() -> picture(Shape.of(5), FOUR, new Placement.Shard(0, 2)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("whole units of 2");
    }
}
