package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Where a cut goes when dimensions are merged or split, and how the gradient comes back. */
class ReshapeShardsTest {
    static Stream<Arguments> reshapes() {
        return Stream.of(
                // tokens flattened and unflattened
                Arguments.of(Shape.of(4, 3, 5), Placement.shard(0), Shape.of(12, 5), new Shard(0, 3)),
                Arguments.of(Shape.of(12, 5), new Shard(0, 3), Shape.of(4, 3, 5), Placement.shard(0)),
                Arguments.of(Shape.of(12, 5), new Shard(0, 6), Shape.of(4, 3, 5), new Shard(0, 2)),
                // features split into heads and merged again
                Arguments.of(Shape.of(2, 12), new Shard(1, 4), Shape.of(2, 3, 4), Placement.shard(1)),
                Arguments.of(Shape.of(2, 3, 4), Placement.shard(1), Shape.of(2, 12), new Shard(1, 4)),
                // a batch of one, of which the first rank has all
                Arguments.of(Shape.of(1, 4, 6), Placement.shard(0), Shape.of(4, 6), new Shard(0, 4)),
                Arguments.of(Shape.of(4, 1), Placement.shard(1), Shape.of(4), new Shard(0, 4)),
                Arguments.of(Shape.of(1, 4), Placement.shard(0), Shape.of(4, 1), new Shard(0, 4)),
                Arguments.of(Shape.of(4, 1), Placement.shard(1), Shape.of(1, 4), new Shard(1, 4)),
                Arguments.of(Shape.of(1, 1), Placement.shard(1), Shape.of(1), Placement.shard(0)),
                Arguments.of(Shape.of(3, 0), Placement.shard(0), Shape.of(3, 0, 2), Placement.shard(0)));
    }

    @ParameterizedTest
    @MethodSource("reshapes")
    void shouldCarryTheCutAlong(Shape from, Shard cut, Shape to, Shard expected) {
        for (int ranks = 1; ranks <= 3; ranks++) {
            Ranks.run(ranks, rank -> {
                double[] elements = new double[(int) from.elements()];
                Arrays.setAll(elements, i -> i);
                DTensor x = rank.place(Whole.of(from, elements), cut);
                x.requiresGrad(true);
                DTensor y = (DTensor) x.reshape(to.toArray());
                assertThat(y.local().shape())
                        .isEqualTo(rank.layout(to, expected).localShape(to));
                assertThat(rank.value(y)).isEqualTo(elements);
                Whole gradient =
                        Whole.of(to, Arrays.stream(elements).map(e -> -2 * e).toArray());
                y.backward(gradient.toTensor(rank.backend()));
                assertThat(rank.value(x.grad())).isEqualTo(gradient.elements());
            });
        }
    }
}
