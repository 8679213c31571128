package org.tp4j.tests.op;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.RandomLayouts;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Ranks;
import org.tp4j.tests.oracle.Whole;

/** Every operation on tensors laid out at random: either it refuses, or result and gradients are those of one rank. */
class OperationShardingTest {
    private static final int CASES = Integer.getInteger("tp.sharding.cases", 24);
    private static final int MOST_CASES = 20 * CASES; // most layouts of several operands are refused
    private static final long SEED = Long.getLong("tp.seed", 1);
    private static final List<List<Integer>> MESHES =
            List.of(List.of(1), List.of(2), List.of(3), List.of(4), List.of(2, 2));
    private static final Catalogue ALL = Catalogue.all();

    static Stream<String> operations() {
        return ALL.names().stream();
    }

    @ParameterizedTest
    @MethodSource("operations")
    void shouldEqualOneRank(String name) {
        for (List<Integer> mesh : MESHES) {
            Ranks.run(mesh, rank -> {
                int cut = 0;
                for (int i = 0; i < MOST_CASES && cut < CASES; i++) {
                    cut += new Case(rank, name, SEED * 1_000_003 + i).run() ? 1 : 0;
                }
                assertThat(cut)
                        .as("cases of %s on %s that ran on shards or pending sums", name, mesh)
                        .isGreaterThanOrEqualTo(CASES / 8);
            });
        }
    }

    /** One operation on operands laid out in one way. */
    private static final class Case {
        private final Rank rank;
        private final Random random;
        private final long seed;
        private final Sample sample;
        private final List<Tensor> alone = new ArrayList<>();
        private final List<Tensor> spread = new ArrayList<>();
        private final double tolerance;
        private boolean cut;

        Case(Rank rank, String name, long seed) {
            this.rank = rank;
            this.seed = seed;
            this.random = new Random(seed);
            Draw.Sizes sizes = Draw.Sizes.values()[random.nextInt(5) / 2];
            this.sample = ALL.draw(name, random, sizes);
            this.tolerance = sample.coarse() ? Close.FLOAT32 : Close.FLOAT64;
            List<List<Placement>> placements =
                    new Placing(random).draw(sample.operands(), rank.mesh().axisCount());
            for (int i = 0; i < sample.operands().size(); i++) {
                add(i, placements.get(i));
            }
        }

        private void add(int i, List<Placement> placements) {
            Whole value = sample.operands().get(i);
            boolean wanted = sample.differentiable(i) && random.nextInt(4) > 0;
            alone.add(value.toTensor(rank.backend()).requiresGrad(wanted));
            if (random.nextInt(8) == 0) {
                spread.add(value.toTensor(rank.backend()).requiresGrad(wanted)); // a plain tensor on every rank
                return;
            }
            Layout layout = RandomLayouts.of(random, rank.mesh(), value.shape(), placements);
            cut |= !layout.isWhole();
            DTensor leaf = rank.place(value, layout, seed + i);
            boolean parameter = wanted && random.nextInt(3) == 0;
            spread.add(
                    parameter ? MeshBorder.parameter(leaf.local(), leaf.shape(), layout) : leaf.requiresGrad(wanted));
        }

        /** Whether it ran on a sharded or pending operand. */
        boolean run() {
            String what = "rank " + rank.number() + " of " + rank.mesh() + ", seed " + seed + ": " + this;
            try {
                Tensor y;
                try {
                    y = sample.function().apply(spread);
                } catch (LayoutException refused) {
                    assertThat(refused).hasMessageContaining("HINT: ");
                    return false;
                }
                check(what, y, sample.function().apply(alone));
                return cut;
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(what + ": " + e.getMessage(), e);
            }
        }

        private void check(String what, Tensor y, Tensor expected) {
            assertThat(y.shape()).as(what).isEqualTo(expected.shape());
            assertThat(y.dtype()).as(what).isEqualTo(expected.dtype());
            Close.assertClose(what, rank.value(y), expected.toDoubles(), tolerance);
            assertThat(y.requiresGrad()).as(what).isEqualTo(expected.requiresGrad());
            if (!expected.requiresGrad()) {
                return;
            }
            Whole gradient = new Draw(random, Draw.Sizes.SMALL).values(expected.shape());
            expected.backward(gradient.toTensor(rank.backend()));
            backward(y, gradient);
            for (int i = 0; i < alone.size(); i++) {
                if (alone.get(i).requiresGrad()) {
                    checkGradient(what + ", gradient of operand " + i, spread.get(i), alone.get(i));
                }
            }
        }

        private void backward(Tensor y, Whole gradient) {
            Tensor plain = gradient.toTensor(rank.backend());
            if (!(y instanceof DTensor d)) {
                y.backward(plain);
                return;
            }
            switch (random.nextInt(3)) {
                case 0 -> d.backward(rank.place(gradient, d.layout().dual(), seed));
                case 1 -> d.backward(plain);
                default -> {
                    Layout whole = Layout.uniform(d.layout().mesh(), d.shape().dims(), Placement.invariant());
                    d.redistribute(whole).mul(plain).sum().backward();
                }
            }
        }

        private void checkGradient(String what, Tensor leaf, Tensor expected) {
            Tensor grad = leaf.grad();
            if (grad == null || expected.grad() == null) {
                Tensor other = grad == null ? expected.grad() : grad;
                double[] rest = other == null ? new double[0] : rank.value(other);
                assertThat(rest).as(what + " arrived on one side alone").containsOnly(new double[rest.length]);
                return;
            }
            if (leaf instanceof DTensor d && grad instanceof DTensor g) {
                for (int a = 0; a < g.layout().placements().size(); a++) {
                    Placement due = d.layout().placement(a).dual();
                    boolean deferred = due == Placement.invariant()
                            && g.layout().placement(a).isPartialSum();
                    assertThat(deferred || g.layout().placement(a).equals(due))
                            .as(what + " lies as the dual")
                            .isTrue();
                }
            }
            Close.assertClose(what, rank.value(grad), expected.grad().toDoubles(), tolerance);
        }

        @Override
        public String toString() {
            StringBuilder text = new StringBuilder(sample.toString());
            for (Tensor t : spread) {
                text.append(", ").append(t instanceof DTensor d ? d.layout().toString() : "plain");
                text.append(t.requiresGrad() ? " with gradient" : "");
            }
            return text.toString();
        }
    }
}
