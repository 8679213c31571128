package org.tp4j.tests.autograd.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.DTensors;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.RandomLayouts;
import org.tp4j.tests.oracle.Rank;

/** Draws what a program does next: an operation, or something done to the layout. */
final class Steps {
    private final Rank rank;
    private final Random random;
    private final List<Entry> pool;
    private final ElementwiseSteps elementwise;
    private final LinearSteps linear;
    private final ShapeSteps shape;

    Steps(Rank rank, Random random, Leaves leaves, List<Entry> pool) {
        this.rank = rank;
        this.random = random;
        this.pool = pool;
        this.elementwise = new ElementwiseSteps(random, leaves, pool);
        this.linear = new LinearSteps(random, leaves);
        this.shape = new ShapeSteps(random, leaves, pool);
    }

    /** A step, or null if what was drawn does not go with the values there are. */
    @Nullable Step next() {
        Entry x = recent(random, pool);
        return switch (random.nextInt(10)) {
            case 0, 1, 2 -> elementwise.next(x);
            case 3, 4 -> linear.next(x);
            case 5, 6 -> shape.next(x);
            default -> onLayout(x);
        };
    }

    /** An entry, the later the likelier. */
    static Entry recent(Random random, List<Entry> pool) {
        int back = Math.min(random.nextInt(pool.size()), random.nextInt(pool.size()));
        return pool.get(pool.size() - 1 - back);
    }

    private @Nullable Step onLayout(Entry x) {
        return switch (random.nextInt(8)) {
            case 0 -> Step.unary("detach", x, Tensor::detach);
            case 1 ->
                Step.unary("noGrad tanh", x, t -> {
                    try (GradMode off = GradMode.noGrad()) {
                        return t.tanh();
                    }
                });
            case 2 -> there(x);
            case 3 -> localMap(x);
            default -> redistribute(x);
        };
    }

    private Step redistribute(Entry x) {
        Layout target;
        if (x.spread() instanceof DTensor d && random.nextInt(3) > 0) { // one axis alone
            Placement p = RandomLayouts.placement(random, x.shape());
            int axis = random.nextInt(rank.mesh().axisCount());
            List<Placement> placements = new ArrayList<>(d.layout().placements());
            placements.set(axis, p);
            target = RandomLayouts.of(random, rank.mesh(), x.shape(), placements);
        } else {
            target = RandomLayouts.layout(random, rank.mesh(), x.shape());
        }
        boolean twice = random.nextInt(3) == 0;
        UnaryOperator<Tensor> change =
                t -> t instanceof DTensor d ? d.redistribute(target) : DTensors.distribute(t, target);
        return twice
                ? new Step(
                        "redistribute twice",
                        List.of(x),
                        in -> in.get(0).add(in.get(0)),
                        in -> change.apply(in.get(0)).add(change.apply(in.get(0))))
                : new Step(
                        "redistribute",
                        List.of(x),
                        in -> in.get(0).mul(1),
                        in -> change.apply(in.get(0)).mul(1));
    }

    /** Off the mesh and back again. */
    private @Nullable Step there(Entry x) {
        if (!(x.spread() instanceof DTensor d)) {
            return null;
        }
        Layout layout = d.layout();
        Placement[] dual = layout.dual().placements().toArray(new Placement[0]);
        return new Step("toLocal and back", List.of(x), in -> in.get(0).mul(2), in -> {
            Tensor local = ((DTensor) in.get(0)).toLocal(dual).mul(2);
            return random.nextBoolean()
                    ? MeshBorder.trusted(local, x.shape(), layout)
                    : DTensors.fromLocal(local, x.shape(), layout);
        });
    }

    private @Nullable Step localMap(Entry x) {
        boolean fits = x.spread() instanceof DTensor d
                && d.layout().placements().stream().noneMatch(p -> p instanceof Placement.Partial);
        if (!fits) {
            return null;
        }
        Layout layout = ((DTensor) x.spread()).layout();
        return new Step(
                "localMap",
                List.of(x),
                in -> in.get(0).tanh(),
                in -> DTensors.localMap(l -> l.get(0).tanh(), List.of(layout), layout, x.shape(), (DTensor) in.get(0)));
    }
}
