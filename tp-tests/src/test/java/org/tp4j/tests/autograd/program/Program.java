package org.tp4j.tests.autograd.program;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.internal.PendingGradients;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.op.Close;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Whole;

/**
 * A small random program, run by one rank alone and by all of them side by side. Each step is either refused with a {@link
 * LayoutException} on every rank, and left out of both, or gives the value that one rank computes; and the gradients of
 * all leaves are those of one rank.
 */
final class Program {
    private static final double MOST = 50; // larger values are not gone on with: errors would be relative to them
    private static final int MOST_STEPS = 10;

    private final Rank rank;
    private final Random random;
    private final long seed;
    private final Leaves leaves;
    private final List<Entry> pool = new ArrayList<>();
    private final List<String> history = new ArrayList<>();
    private final Map<String, int[]> counts = new TreeMap<>();
    private boolean cut;
    private boolean differentiated;

    Program(Rank rank, long seed) {
        this.rank = rank;
        this.seed = seed;
        this.random = new Random(seed);
        this.leaves = new Leaves(rank, random);
    }

    /** By step: how often it ran, and how often it was refused. */
    Map<String, int[]> counts() {
        return counts;
    }

    /** Whether a gradient was compared and something was cut or pending. */
    boolean wasWorthIt() {
        return cut && differentiated;
    }

    /** Runs all of it. */
    void run() {
        try {
            rank.log().clear();
            int passes = random.nextInt(4) == 0 ? 2 : 1;
            for (int i = 0; i <= random.nextInt(3); i++) {
                pool.add(leaves.any(shape()));
            }
            for (int pass = 0; pass < passes; pass++) {
                if (random.nextBoolean()) {
                    once();
                } else { // memory comes from a pool, its content what was there before, and goes back to it
                    try (Scope scope = Scope.open("program")) {
                        once();
                    }
                }
                pool.clear(); // what a backward pass has been through is spent
                pool.addAll(leaves.made().stream()
                        .filter(e -> e.alone().dtype().isFloating())
                        .toList());
            }
            completeGradients();
        } catch (RuntimeException | AssertionError e) {
            throw new AssertionError(
                    "rank " + rank.number() + " of " + rank.mesh() + ", seed " + seed + ": "
                            + String.join("; ", history) + ": " + e.getMessage(),
                    e);
        }
    }

    private Shape shape() {
        long[] sizes = new long[random.nextInt(4)];
        for (int d = 0; d < sizes.length; d++) {
            sizes[d] = random.nextInt(12) == 0 ? 0 : 1 + random.nextInt(5);
        }
        return Shape.of(sizes);
    }

    private void once() {
        Steps steps = new Steps(rank, random, leaves, pool);
        for (int i = 0; i < 2 + random.nextInt(MOST_STEPS - 1); i++) {
            Step step = steps.next();
            Entry result = step == null ? null : apply(step);
            if (result != null && result.largest() <= MOST && finite(result)) {
                pool.add(result);
            }
        }
        backward();
    }

    private static boolean finite(Entry entry) {
        for (double v : entry.alone().toDoubles()) {
            if (!Double.isFinite(v)) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Entry apply(Step step) {
        int[] count = counts.computeIfAbsent(step.name(), n -> new int[2]);
        String text = step.name() + step.operands();
        Tensor spread;
        try {
            history.add(text);
            spread = step.runSpread();
        } catch (LayoutException refused) {
            assertThat(refused).hasMessageContaining("HINT: ");
            history.set(history.size() - 1, text + " refused");
            count[1]++;
            return null;
        }
        count[0]++;
        Tensor alone = step.runAlone();
        Entry entry = new Entry(alone, spread, "t" + history.size());
        history.set(history.size() - 1, entry + " = " + text);
        cut |= spread instanceof DTensor d && !d.layout().isWhole();
        assertThat(spread.shape()).isEqualTo(alone.shape());
        assertThat(spread.requiresGrad()).isEqualTo(alone.requiresGrad());
        Close.assertClose("value", rank.value(spread), alone.toDoubles(), Close.FLOAT64);
        return entry;
    }

    private void backward() {
        List<Entry> candidates =
                pool.stream().filter(e -> e.alone().requiresGrad()).toList();
        if (candidates.isEmpty()) {
            return;
        }
        if (random.nextInt(4) == 0) {
            Entry last = candidates.get(candidates.size() - 1);
            Whole gradient = weights(last.shape());
            history.add("backward from " + last.how() + " with a given gradient");
            last.alone().backward(gradient.toTensor(rank.backend()));
            if (last.spread() instanceof DTensor d && random.nextBoolean()) {
                d.backward(rank.place(gradient, d.layout().dual(), random.nextLong()));
            } else {
                last.spread().backward(gradient.toTensor(rank.backend()));
            }
        } else {
            Entry loss = loss(candidates);
            history.add("backward from " + loss);
            loss.alone().backward();
            loss.spread().backward();
        }
        for (Entry leaf : leaves.made()) {
            check(leaf);
        }
        differentiated = true;
    }

    /** A weighted sum of the last value and a few others. */
    private Entry loss(List<Entry> candidates) {
        Entry sum = term(candidates.get(candidates.size() - 1));
        for (int i = random.nextInt(3); i > 0; i--) {
            Entry other = term(candidates.get(random.nextInt(candidates.size())));
            sum = new Entry(sum.alone().add(other.alone()), sum.spread().add(other.spread()), "sum");
        }
        return sum;
    }

    private Entry term(Entry entry) {
        history.add("loss takes " + entry.how());
        Whole weights = weights(entry.shape());
        Tensor alone = entry.alone().mul(weights.toTensor(rank.backend())).sum();
        Tensor spread = entry.spread().mul(weights.toTensor(rank.backend())).sum();
        return new Entry(alone, spread instanceof DTensor d ? countedOnce(d) : spread, "term");
    }

    /** A scalar that backward can start from: Invariant or pending. */
    private Tensor countedOnce(DTensor scalar) {
        List<Placement> placements = new ArrayList<>();
        for (Placement p : scalar.layout().placements()) {
            boolean stay = p == Placement.invariant() || p.isPartialSum() && random.nextBoolean();
            placements.add(stay ? p : random.nextBoolean() ? Placement.partial() : Placement.invariant());
        }
        return scalar.redistribute(placements.toArray(new Placement[0]));
    }

    private Whole weights(Shape shape) {
        double[] elements = new double[(int) shape.elements()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = random.nextDouble() * 2 - 1;
        }
        return Whole.of(shape, elements);
    }

    private void check(Entry leaf) {
        Tensor expected = leaf.alone().grad();
        Tensor actual = leaf.spread().grad();
        double[] none = new double[(int) leaf.shape().elements()];
        double[] due = expected == null ? none : expected.toDoubles();
        double[] is = actual == null ? none : rank.value(actual);
        double largest = 1;
        for (double v : due) {
            largest = Math.max(largest, Math.abs(v));
        }
        Close.assertClose("gradient of " + leaf, is, due, Close.FLOAT64 * largest);
        if (actual instanceof DTensor g) {
            assertLiesAsDual(leaf, (DTensor) leaf.spread(), g, true);
        }
    }

    private static void assertLiesAsDual(Entry leaf, DTensor of, DTensor gradient, boolean deferred) {
        Layout layout = gradient.layout();
        for (int a = 0; a < layout.placements().size(); a++) {
            Placement due = of.layout().placement(a).dual();
            boolean pending = deferred
                    && leaf.how().startsWith("parameter")
                    && due == Placement.invariant()
                    && layout.placement(a).isPartialSum();
            assertThat(pending || layout.placement(a).equals(due))
                    .as("gradient of %s is %s", leaf, layout)
                    .isTrue();
        }
    }

    /** Sums what parameters have pending; then every gradient lies as the dual of its leaf. */
    private void completeGradients() {
        List<Tensor> all = leaves.made().stream()
                .map(Entry::spread)
                .filter(t -> t instanceof DTensor)
                .toList();
        PendingGradients.sum(all);
        for (Entry leaf : leaves.made()) {
            if (leaf.spread().grad() instanceof DTensor g) {
                assertLiesAsDual(leaf, (DTensor) leaf.spread(), g, false);
                check(leaf);
            }
        }
    }
}
