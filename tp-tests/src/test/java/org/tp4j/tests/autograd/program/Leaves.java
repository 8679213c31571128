package org.tp4j.tests.autograd.program;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.tp4j.autograd.internal.MeshBorder;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.RandomLayouts;
import org.tp4j.tests.oracle.Rank;
import org.tp4j.tests.oracle.Whole;

/** Makes a program's leaves: plain or on the mesh, with or without gradient, parameters or not, laid out at random. */
final class Leaves {
    private final Rank rank;
    private final Random random;
    private final List<Entry> made = new ArrayList<>();

    Leaves(Rank rank, Random random) {
        this.rank = rank;
        this.random = random;
    }

    /** All of them. */
    List<Entry> made() {
        return made;
    }

    /** A leaf laid out at random. */
    Entry any(Shape shape) {
        return floats(shape, null);
    }

    /**
     * A leaf that goes with another tensor, more often than not.
     *
     * @param fitting from a placement of the other to one that fits
     */
    Entry beside(Entry other, Shape shape, UnaryOperator<Placement> fitting) {
        boolean fit = other.spread() instanceof DTensor && random.nextInt(3) > 0;
        if (!fit) {
            return any(shape);
        }
        List<Placement> placements = ((DTensor) other.spread())
                .layout().placements().stream().map(fitting).toList();
        return floats(shape, placements);
    }

    private Entry floats(Shape shape, @Nullable List<Placement> placements) {
        double[] elements = new double[(int) shape.elements()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = random.nextDouble() * 2 - 1;
        }
        boolean wanted = random.nextInt(4) > 0;
        return make(Whole.of(shape, elements), wanted, placements);
    }

    /** Ids below {@code n}. */
    Entry ids(Shape shape, long n) {
        double[] elements = new double[(int) shape.elements()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = random.nextInt((int) n);
        }
        return make(new Whole(DType.INT64, shape, elements), false, null);
    }

    /** Truth values. */
    Entry truths(Shape shape) {
        double[] elements = new double[(int) shape.elements()];
        for (int i = 0; i < elements.length; i++) {
            elements[i] = random.nextInt(2);
        }
        return make(new Whole(DType.BOOL, shape, elements), false, null);
    }

    private Entry make(Whole value, boolean wanted, @Nullable List<Placement> placements) {
        return Scope.outside(() -> madeOutside(value, wanted, placements));
    }

    private Entry madeOutside(Whole value, boolean wanted, @Nullable List<Placement> placements) {
        Tensor alone = value.toTensor(rank.backend()).requiresGrad(wanted);
        Tensor spread;
        String how;
        if (placements == null && random.nextInt(5) == 0) {
            spread = value.toTensor(rank.backend()).requiresGrad(wanted);
            how = "plain leaf";
        } else {
            boolean parameter = wanted && random.nextInt(3) == 0;
            List<Placement> chosen =
                    placements == null || parameter && random.nextBoolean() ? draw(value, parameter) : placements;
            Layout layout = RandomLayouts.of(random, rank.mesh(), value.shape(), chosen);
            DTensor leaf = rank.place(value, layout, random.nextLong());
            spread = parameter ? MeshBorder.parameter(leaf.local(), leaf.shape(), layout) : leaf.requiresGrad(wanted);
            how = parameter ? "parameter" : "leaf";
        }
        Entry entry = new Entry(alone, spread, how + made.size());
        made.add(entry);
        return entry;
    }

    private List<Placement> draw(Whole value, boolean parameter) {
        List<Placement> result = new ArrayList<>();
        for (int a = 0; a < rank.mesh().axisCount(); a++) {
            Placement p = RandomLayouts.placement(random, value.shape());
            boolean pending = p instanceof Placement.Partial;
            if (pending && value.dtype() != DType.FLOAT64 || parameter && random.nextBoolean()) {
                p = Placement.invariant();
            }
            result.add(p);
        }
        return result;
    }
}
