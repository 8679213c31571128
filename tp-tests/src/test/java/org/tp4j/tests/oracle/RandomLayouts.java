package org.tp4j.tests.oracle;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Shape;

/** Draws layouts: all placements, units, negative dimensions, nested cuts in any order. */
public final class RandomLayouts {
    private static final long[] SIZES = {0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 12};

    private RandomLayouts() {}

    /** A shape of {@code least} to {@code most} dimensions. */
    public static Shape shape(Random random, int least, int most) {
        long[] sizes = new long[least + random.nextInt(most - least + 1)];
        for (int d = 0; d < sizes.length; d++) {
            sizes[d] = SIZES[random.nextInt(SIZES.length)];
        }
        return Shape.of(sizes);
    }

    /** One placement for a tensor of this shape. */
    public static Placement placement(Random random, Shape shape) {
        int kind = random.nextInt(shape.dims() == 0 ? 3 : 6);
        return switch (kind) {
            case 0 -> Placement.replicate();
            case 1 -> Placement.invariant();
            case 2 -> Placement.partial();
            default -> shard(random, shape);
        };
    }

    /** A shard, sometimes in units, its dimension sometimes negative. */
    public static Shard shard(Random random, Shape shape) {
        int dim = random.nextInt(shape.dims());
        long n = shape.size(dim);
        long unit = 1;
        if (random.nextInt(3) == 0) {
            for (long u = 2 + random.nextInt(3); u > 1; u--) {
                unit = n % u == 0 ? Math.max(unit, u) : unit;
            }
        }
        return new Shard(random.nextInt(4) == 0 ? dim - shape.dims() : dim, unit);
    }

    /** A layout for a tensor of this shape. */
    public static Layout layout(Random random, DeviceMesh mesh, Shape shape) {
        List<Placement> placements = new ArrayList<>();
        for (int a = 0; a < mesh.axisCount(); a++) {
            placements.add(placement(random, shape));
        }
        return of(random, mesh, shape, placements);
    }

    /** These placements, cutting in some order; units that do not come out whole become 1. */
    public static Layout of(Random random, DeviceMesh mesh, Shape shape, List<Placement> placements) {
        List<Integer> order = new ArrayList<>();
        for (int a = 0; a < placements.size(); a++) {
            order.add(a);
        }
        if (random.nextBoolean()) {
            Collections.shuffle(order, random);
        }
        Layout layout = Layout.of(mesh, shape.dims(), placements, order);
        try {
            for (int rank = 0; rank < Denotation.ranks(layout); rank++) {
                Denotation.box(layout, shape, rank);
            }
            return layout;
        } catch (IllegalArgumentException notWhole) {
            List<Placement> plain = placements.stream()
                    .map(p -> p instanceof Shard s ? new Shard(s.dim(), 1) : p)
                    .toList();
            return Layout.of(mesh, shape.dims(), plain, order);
        }
    }
}
