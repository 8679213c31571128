package org.tp4j.tests.op;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tests.oracle.RandomLayouts;
import org.tp4j.tests.oracle.Whole;

/** Draws placements of several operands together, so that a fair share of operations can work on them. */
final class Placing {
    private final Random random;

    Placing(Random random) {
        this.random = random;
    }

    /** For each operand its placements by axis. */
    List<List<Placement>> draw(List<Whole> operands, int axes) {
        List<List<Placement>> result = new ArrayList<>();
        operands.forEach(o -> result.add(new ArrayList<>()));
        for (int axis = 0; axis < axes; axis++) {
            Placement[] along = along(operands);
            for (int i = 0; i < along.length; i++) {
                boolean summable = operands.get(i).dtype() == DType.FLOAT64;
                boolean pending = along[i] instanceof Placement.Partial;
                result.get(i).add(pending && !summable ? Placement.replicate() : along[i]);
            }
        }
        return result;
    }

    private Placement[] along(List<Whole> operands) {
        Placement[] result = new Placement[operands.size()];
        switch (random.nextInt(8)) {
            case 0 -> java.util.Arrays.fill(result, Placement.invariant());
            case 1 -> java.util.Arrays.fill(result, Placement.replicate());
            case 2 ->
                java.util.Arrays.setAll(
                        result,
                        i -> RandomLayouts.placement(random, operands.get(i).shape()));
            case 3 -> {
                java.util.Arrays.setAll(result, i -> whole());
                result[random.nextInt(result.length)] = Placement.partial();
            }
            case 4 -> java.util.Arrays.setAll(result, i -> random.nextBoolean() ? Placement.partial() : whole());
            default -> together(operands, result);
        }
        return result;
    }

    private Placement whole() {
        return random.nextInt(3) == 0 ? Placement.invariant() : Placement.replicate();
    }

    /** One operand is cut; others along a dimension of the same size, or not at all. */
    private void together(List<Whole> operands, Placement[] result) {
        int first = random.nextInt(result.length);
        Shape shape = operands.get(first).shape();
        if (shape.dims() == 0) {
            java.util.Arrays.fill(result, Placement.replicate());
            return;
        }
        Shard cut = RandomLayouts.shard(random, shape);
        int dim = shape.normalize(cut.dim());
        for (int i = 0; i < result.length; i++) {
            Shape other = operands.get(i).shape();
            List<Placement> fitting = new ArrayList<>();
            for (int d = 0; d < other.dims(); d++) {
                if (other.size(d) == shape.size(dim)) {
                    fitting.add(new Shard(d, cut.unit()));
                    if (d - other.dims() == dim - shape.dims() || d == dim) { // likelier to belong together
                        fitting.add(new Shard(d, cut.unit()));
                    }
                }
            }
            boolean leave = fitting.isEmpty() || random.nextInt(5) == 0;
            result[i] = i == first ? cut : leave ? whole() : fitting.get(random.nextInt(fitting.size()));
        }
    }
}
