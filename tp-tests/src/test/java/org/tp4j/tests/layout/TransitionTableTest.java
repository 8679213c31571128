package org.tp4j.tests.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.tp4j.layout.Transition.Move.ALL_GATHER;
import static org.tp4j.layout.Transition.Move.ALL_REDUCE;
import static org.tp4j.layout.Transition.Move.ALL_TO_ALL;
import static org.tp4j.layout.Transition.Move.IDENTITY;
import static org.tp4j.layout.Transition.Move.REDUCE_SCATTER;
import static org.tp4j.layout.Transition.Move.SLICE;
import static org.tp4j.layout.Transition.Move.ZERO_ALL_BUT_FIRST;
import static org.tp4j.layout.Transition.Move.ZERO_PAD;

import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tp4j.comm.ReduceOp;
import org.tp4j.comm.record.Collective;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Transition;
import org.tp4j.layout.Transition.Move;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.Denotation;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Each row of the table by name: what it does forward and backward, what it communicates, and that it is right. */
class TransitionTableTest {
    private static final Placement INVARIANT = Placement.invariant();
    private static final Placement REPLICATE = Placement.replicate();
    private static final Placement PARTIAL = Placement.partial();

    private static final Map<Move, Collective> COLLECTIVES = Map.of(
            ALL_REDUCE, Collective.ALL_REDUCE,
            ALL_GATHER, Collective.ALL_GATHER,
            REDUCE_SCATTER, Collective.REDUCE_SCATTER,
            ALL_TO_ALL, Collective.ALL_TO_ALL);

    /** The rows of DESIGN's table. */
    enum Row {
        INVARIANT_TO_REPLICATE(INVARIANT, REPLICATE, IDENTITY, ALL_REDUCE),
        PARTIAL_TO_INVARIANT(PARTIAL, INVARIANT, ALL_REDUCE, IDENTITY),
        PARTIAL_TO_REPLICATE(PARTIAL, REPLICATE, ALL_REDUCE, ALL_REDUCE),
        SHARD_TO_REPLICATE(Placement.shard(0), REPLICATE, ALL_GATHER, REDUCE_SCATTER),
        INNER_SHARD_TO_REPLICATE(Placement.shard(1), REPLICATE, ALL_GATHER, REDUCE_SCATTER),
        SHARD_TO_INVARIANT(Placement.shard(1), INVARIANT, ALL_GATHER, SLICE),
        INVARIANT_TO_SHARD(INVARIANT, Placement.shard(1), SLICE, ALL_GATHER),
        REPLICATE_TO_SHARD(REPLICATE, Placement.shard(0), SLICE, ZERO_PAD),
        PARTIAL_TO_SHARD(PARTIAL, Placement.shard(0), REDUCE_SCATTER, ALL_GATHER),
        PARTIAL_TO_INNER_SHARD(PARTIAL, Placement.shard(1), REDUCE_SCATTER, ALL_GATHER),
        SHARD_TO_OTHER_SHARD(Placement.shard(0), Placement.shard(1), ALL_TO_ALL, ALL_TO_ALL),
        OTHER_SHARD_TO_SHARD(Placement.shard(1), Placement.shard(0), ALL_TO_ALL, ALL_TO_ALL),
        REPLICATE_TO_PARTIAL(REPLICATE, PARTIAL, ZERO_ALL_BUT_FIRST, ZERO_ALL_BUT_FIRST),
        REPLICATE_TO_INVARIANT(REPLICATE, INVARIANT, IDENTITY, ZERO_ALL_BUT_FIRST),
        INVARIANT_TO_PARTIAL(INVARIANT, PARTIAL, ZERO_ALL_BUT_FIRST, IDENTITY),
        SHARD_TO_PARTIAL(Placement.shard(1), PARTIAL, ZERO_PAD, SLICE);

        private final Placement from;
        private final Placement to;
        private final Move forward;
        private final Move backward;

        Row(Placement from, Placement to, Move forward, Move backward) {
            this.from = from;
            this.to = to;
            this.forward = forward;
            this.backward = backward;
        }
    }

    @ParameterizedTest
    @EnumSource(Row.class)
    void shouldHaveRow(Row row) {
        Transition transition = Transition.of(row.from, row.to);
        assertThat(transition.move()).isEqualTo(row.forward);
        assertThat(transition.backward().move()).isEqualTo(row.backward);
        assertThat(transition.backward().from()).isEqualTo(row.to.dual());
        assertThat(transition.backward().to()).isEqualTo(row.from.dual());
        assertThat(transition.carriesGradient()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Row.class)
    void shouldCarryValueForwardAndGradientBackward(Row row) {
        for (int ranks = 1; ranks <= 4; ranks++) {
            Ranks.run(ranks, rank -> {
                for (Shape shape : List.of(
                        Shape.of(5, 3),
                        Shape.of(4, 4),
                        Shape.of(1, 2),
                        Shape.of(2, 1),
                        Shape.of(0, 3),
                        Shape.of(3, 0))) {
                    check(rank, row, shape);
                }
            });
        }
    }

    private static void check(Rank rank, Row row, Shape shape) {
        Random random = new Random(7);
        Whole value = Whole.exact(shape, random);
        DTensor x = rank.place(value, row.from);
        x.requiresGrad(true);
        rank.log().clear();
        DTensor y = x.redistribute(row.to);
        assertCost(rank, row.forward, shape);
        assertThat(rank.value(y)).as("%s of %s", row, shape).isEqualTo(value.elements());
        assertShape(rank, y);
        Whole gradient = Whole.exact(shape, random);
        DTensor given = rank.place(gradient, row.to.dual());
        rank.log().clear();
        y.backward(given);
        assertCost(rank, row.backward, shape);
        DTensor arrived = (DTensor) x.grad();
        assertThat(arrived.layout()).isEqualTo(x.layout().dual());
        assertThat(rank.value(arrived)).as("%s of %s, gradient", row, shape).isEqualTo(gradient.elements());
        assertShape(rank, arrived);
        boolean zeroed = row.forward == ZERO_ALL_BUT_FIRST && rank.number() > 0;
        if (zeroed) {
            assertThat(y.local().toDoubles())
                    .containsOnly(new double[(int) y.local().elements()]);
        }
    }

    private static void assertShape(Rank rank, DTensor tensor) {
        long[][] box = Denotation.box(tensor.layout(), tensor.shape(), rank.number());
        assertThat(tensor.local().shape()).isEqualTo(Denotation.shape(box));
    }

    private static void assertCost(Rank rank, Move move, Shape shape) {
        if (!move.communicates()) {
            assertThat(rank.log().count()).as("%s communicates nothing", move).isZero();
            return;
        }
        Collective collective = COLLECTIVES.get(move);
        assertThat(rank.log().count()).isEqualTo(1);
        assertThat(rank.log().count(collective)).isEqualTo(1);
        if (move != ALL_TO_ALL) {
            assertThat(rank.log().elements(collective)).isEqualTo(shape.elements());
        }
    }

    @Test
    void shouldCarryNoGradientThroughStatistics() {
        for (ReduceOp op : List.of(ReduceOp.AVG, ReduceOp.MAX, ReduceOp.MIN, ReduceOp.PRODUCT)) {
            Placement statistic = new Placement.Partial(op);
            assertThat(Transition.of(statistic, INVARIANT).move()).isEqualTo(ALL_REDUCE);
            assertThat(Transition.of(statistic, Placement.shard(0)).move()).isEqualTo(REDUCE_SCATTER);
            assertThat(Transition.of(statistic, REPLICATE).carriesGradient()).isFalse();
            for (Placement from : List.of(INVARIANT, REPLICATE, Placement.shard(0), PARTIAL)) {
                assertThatThrownBy(() -> Transition.of(from, statistic))
                        .isInstanceOf(LayoutException.class)
                        .hasMessageContaining("there is no change from " + from + " to " + statistic)
                        .hasMessageContaining("HINT: ");
            }
        }
    }
}
