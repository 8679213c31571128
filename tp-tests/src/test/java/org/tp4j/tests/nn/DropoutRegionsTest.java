package org.tp4j.tests.nn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.Tensors;
import org.tp4j.comm.World;
import org.tp4j.layout.Placement;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Dropout;
import org.tp4j.nn.Layer;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.Cases;
import org.tp4j.threads.ThreadRanks;

/** Case A21: dropout inside and outside the split region of a mesh dp 2 x tp 2. */
class DropoutRegionsTest {
    private static final Cases CASE = Cases.of("A21");
    private static final int N = (int) CASE.number("n");
    private static final long SEED = 7;

    private static final class TwoDropouts extends Layer {
        private final Dropout outside = child("outside", new Dropout(CASE.number("p")));
        private final Dropout inside = child("inside", new Dropout(CASE.number("p")));

        @Override
        protected Tensor forward(Tensor x) {
            throw new UnsupportedOperationException("the test calls the parts");
        }
    }

    /** Masks of one rank: outside, inside, then inside and outside after a reset, and a gradient. */
    private record Masks(
            double[] outside, double[] inside, double[] insideAgain, double[] outsideAgain, double[] grad) {}

    private static Masks masks(World world) {
        DeviceMesh mesh = DeviceMesh.of(world, Map.entry("dp", 2), Map.entry("tp", 2));
        TwoDropouts model = new TwoDropouts();
        model.materialize(world.backend(), DType.FLOAT32, SEED);
        Tensor whole = ones(world, mesh, Placement.invariant()).requiresGrad(true);
        Tensor split = ones(world, mesh, Placement.shard(1));
        model.beginStep(3);
        Tensor outside = model.outside.apply(whole);
        Tensor inside = model.inside.apply(split);
        model.beginStep(3);
        Tensor insideAgain = model.inside.apply(split);
        Tensor outsideAgain = model.outside.apply(whole);
        outside.backward(Tensors.ones(world.backend(), DType.FLOAT32, outside.shape()));
        return new Masks(
                outside.local().toDoubles(),
                inside.local().toDoubles(),
                insideAgain.local().toDoubles(),
                outsideAgain.local().toDoubles(),
                whole.grad().local().toDoubles());
    }

    /** Ones, of which every rank holds n, one row per replica: cut by rows over dp, over tp as given. */
    private static Tensor ones(World world, DeviceMesh mesh, Placement tp) {
        Tensor mine = Tensors.ones(world.backend(), DType.FLOAT32, Shape.of(1, N));
        return DTensors.fromLocal(mine, mesh, Placement.shard(0), tp);
    }

    private static long agreement(double[] a, double[] b) {
        long same = 0;
        for (int i = 0; i < N; i++) {
            same += a[i] == b[i] ? 1 : 0;
        }
        return same;
    }

    private static void assertIndependent(String pairs, List<double[]> masks) {
        long[] bounds = CASE.longs("agreement_bounds_for_independent_masks");
        CASE.at(pairs)
                .forEach(pair -> assertThat(agreement(
                                masks.get(pair.get(0).asInt()),
                                masks.get(pair.get(1).asInt())))
                        .as("%s %s", pairs, pair)
                        .isBetween(bounds[0], bounds[1]));
    }

    @Test
    void shouldDropTheSameInCopiesAndIndependentlyInPieces() {
        List<Masks> ranks = ThreadRanks.call(4, DropoutRegionsTest::masks);
        List<double[]> outside = ranks.stream().map(Masks::outside).toList();
        List<double[]> inside = ranks.stream().map(Masks::inside).toList();
        CASE.at("equal_pairs_outside_tp")
                .forEach(pair -> assertThat(outside.get(pair.get(0).asInt()))
                        .containsExactly(outside.get(pair.get(1).asInt())));
        assertIndependent("different_pairs_outside_tp", outside);
        assertIndependent("different_pairs_inside_tp", inside);

        long[] kept = CASE.longs("kept_count_bounds");
        List<double[]> all = new ArrayList<>(outside);
        all.addAll(inside);
        for (double[] mask : all) {
            assertThat(mask).containsOnly(0, CASE.number("kept_value"));
            long count = java.util.Arrays.stream(mask).filter(m -> m != 0).count();
            assertThat(count).isBetween(kept[0], kept[1]);
        }
    }

    @Test
    void shouldRepeatMasksWhateverTheOrderOfTheCalls() {
        for (Masks rank : ThreadRanks.call(4, DropoutRegionsTest::masks)) {
            assertThat(rank.insideAgain).containsExactly(rank.inside);
            assertThat(rank.outsideAgain).containsExactly(rank.outside);
        }
    }

    @Test
    void shouldGiveTheMaskTimesTwoAsGradient() {
        for (Masks rank : ThreadRanks.call(4, DropoutRegionsTest::masks)) {
            assertThat(rank.grad).containsExactly(rank.outside);
        }
    }

    @Test
    void shouldDrawOtherMasksInTheNextCallAndTheNextStep() {
        ThreadRanks.run(1, world -> {
            Dropout dropout = new Dropout(0.5);
            dropout.materialize(world.backend(), DType.FLOAT32, SEED);
            Tensor ones = Tensors.ones(world.backend(), DType.FLOAT32, Shape.of(N));
            dropout.beginStep(0);
            double[] first = dropout.apply(ones).toDoubles();
            double[] second = dropout.apply(ones).toDoubles();
            dropout.beginStep(1);
            double[] third = dropout.apply(ones).toDoubles();
            long[] bounds = CASE.longs("agreement_bounds_for_independent_masks");
            assertThat(agreement(first, second)).isBetween(bounds[0], bounds[1]);
            assertThat(agreement(first, third)).isBetween(bounds[0], bounds[1]);
            assertThat(agreement(second, third)).isBetween(bounds[0], bounds[1]);
            dropout.eval();
            assertThat(dropout.apply(ones)).isSameAs(ones);
        });
    }
}
