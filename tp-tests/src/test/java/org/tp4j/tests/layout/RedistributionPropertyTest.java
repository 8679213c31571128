package org.tp4j.tests.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.Denotation;
import org.tp4j.tests.oracle.RandomLayouts;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Every change of layout keeps the value, and its way back keeps the gradient, against a brute-force oracle. */
class RedistributionPropertyTest {
    private static final int CASES = Integer.getInteger("tp.redistribution.cases", 400);
    private static final long SEED = Long.getLong("tp.seed", 1);

    static Stream<List<Integer>> meshes() {
        return Stream.of(
                List.of(1),
                List.of(2),
                List.of(3),
                List.of(4),
                List.of(2, 2),
                List.of(2, 3),
                List.of(3, 2),
                List.of(1, 2),
                List.of(2, 2, 2));
    }

    @ParameterizedTest
    @MethodSource("meshes")
    void shouldKeepValueAndGradient(List<Integer> mesh) {
        Ranks.run(mesh, rank -> {
            for (int i = 0; i < CASES; i++) {
                check(rank, SEED * 1_000_003 + i);
            }
        });
    }

    private static void check(Rank rank, long seed) {
        Random random = new Random(seed);
        Shape shape = RandomLayouts.shape(random, 0, 3);
        Layout from = RandomLayouts.layout(random, rank.mesh(), shape);
        Layout to = RandomLayouts.layout(random, rank.mesh(), shape);
        String what = "seed " + seed + ": " + shape + " from " + from + " to " + to;
        try {
            Whole value = Whole.exact(shape, random);
            DTensor x = rank.place(value, from, seed);
            x.requiresGrad(true);
            DTensor y = x.redistribute(to);
            assertThat(y.layout()).as(what).isEqualTo(to);
            assertThat(y.local().shape())
                    .as(what)
                    .isEqualTo(Denotation.shape(Denotation.box(to, shape, rank.number())));
            assertThat(rank.value(y)).as(what).isEqualTo(value.elements());
            Whole gradient = Whole.exact(shape, random);
            y.backward(rank.place(gradient, to.dual(), seed + 1));
            DTensor arrived = (DTensor) x.grad();
            assertThat(arrived.layout()).as(what).isEqualTo(from.dual());
            assertThat(rank.value(arrived)).as("gradient of " + what).isEqualTo(gradient.elements());
            assertThat(rank.value(x)).as(what + ", the original afterwards").isEqualTo(value.elements());
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError("rank " + rank.number() + ", " + what + ": " + e.getMessage(), e);
        }
    }

    @ParameterizedTest
    @MethodSource("meshes")
    void shouldReduceStatisticsToTheirValue(List<Integer> mesh) {
        ReduceOp[] kinds = {ReduceOp.AVG, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT};
        Ranks.run(mesh, rank -> {
            for (int i = 0; i < CASES / 4; i++) {
                long seed = SEED * 1_000_003 + i;
                Random random = new Random(seed);
                Shape shape = RandomLayouts.shape(random, 0, 3);
                Placement statistic = new Placement.Partial(kinds[random.nextInt(kinds.length)]);
                List<Placement> placements = Stream.generate(() -> notPending(random, shape))
                        .limit(mesh.size())
                        .collect(java.util.stream.Collectors.toCollection(java.util.ArrayList::new));
                placements.set(random.nextInt(mesh.size()), statistic);
                Layout from = RandomLayouts.of(random, rank.mesh(), shape, placements);
                Layout to = RandomLayouts.of(
                        random,
                        rank.mesh(),
                        shape,
                        placements.stream().map(p -> notPending(random, shape)).toList());
                Whole value = Whole.exact(shape, random);
                DTensor y = rank.place(value, from, seed).redistribute(to);
                assertThat(rank.value(y))
                        .as("seed " + seed + ": " + shape + " from " + from + " to " + to)
                        .usingComparatorWithPrecision(1e-12)
                        .containsExactly(value.elements());
            }
        });
    }

    private static Placement notPending(Random random, Shape shape) {
        Placement p = RandomLayouts.placement(random, shape);
        return p instanceof Placement.Partial ? Placement.replicate() : p;
    }
}
