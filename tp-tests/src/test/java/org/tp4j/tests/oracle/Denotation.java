package org.tp4j.tests.oracle;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.tp4j.comm.ReduceOp;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.layout.Placement.Partial;
import org.tp4j.layout.Placement.Shard;
import org.tp4j.tensor.Shape;

/**
 * The meaning of a layout, by brute force from its definition and without the library's own arithmetic: Shard is the pieces
 * joined, Partial their sum, Replicate and Invariant any rank's, since all are equal.
 *
 * <p>Ranks are counted as the mesh counts them, the last axis running fastest. Pending reductions other than sums may not
 * stand beside pending sums: the order of reducing would matter.
 */
public final class Denotation {
    private static final double SAME = 1e-12; // replicas that were summed in different orders

    private Denotation() {}

    /** Sizes of the mesh's axes. */
    public static int[] sizes(Layout layout) {
        return layout.mesh().axes().stream().mapToInt(a -> a.size()).toArray();
    }

    /** Number of ranks. */
    public static int ranks(Layout layout) {
        return Arrays.stream(sizes(layout)).reduce(1, (a, b) -> a * b);
    }

    /** Where a rank stands on each axis. */
    public static int[] coordinates(Layout layout, int rank) {
        int[] sizes = sizes(layout);
        int[] result = new int[sizes.length];
        int rest = rank;
        for (int a = sizes.length - 1; a >= 0; a--) {
            result[a] = rest % sizes[a];
            rest /= sizes[a];
        }
        return result;
    }

    /**
     * The box a rank holds, [begin, end) for each dimension: axis after axis, in the order of the cuts, gives every rank
     * the same number of whole units, rounded up, until none are left.
     *
     * @throws IllegalArgumentException if something is not whole units
     */
    public static long[][] box(Layout layout, Shape shape, int rank) {
        int[] at = coordinates(layout, rank);
        int[] sizes = sizes(layout);
        long[][] box = new long[shape.dims()][];
        for (int d = 0; d < box.length; d++) {
            long begin = 0;
            long end = shape.size(d);
            for (int axis : layout.cutsOf(d)) {
                long unit = ((Shard) layout.placement(axis)).unit();
                if ((end - begin) % unit != 0) {
                    throw new IllegalArgumentException(end - begin + " elements are not whole units of " + unit);
                }
                long units = (end - begin) / unit;
                long each = units / sizes[axis] + (units % sizes[axis] == 0 ? 0 : 1);
                long first = Math.min(units, at[axis] * each);
                long last = Math.min(units, (at[axis] + 1) * each);
                end = begin + last * unit;
                begin = begin + first * unit;
            }
            box[d] = new long[] {begin, end};
        }
        return box;
    }

    /** Shape of a box. */
    public static Shape shape(long[][] box) {
        return Shape.of(Arrays.stream(box).mapToLong(d -> d[1] - d[0]).toArray());
    }

    /** Linear indices in the whole tensor of a box's elements, in the box's order. */
    private static int[] indices(long[][] box, Shape shape) {
        long[] strides = shape.strides();
        int[] result = new int[Math.toIntExact(shape(box).elements())];
        long[] at = new long[box.length];
        for (int i = 0; i < result.length; i++) {
            long index = 0;
            for (int d = 0; d < box.length; d++) {
                index += (box[d][0] + at[d]) * strides[d];
            }
            result[i] = (int) index;
            for (int d = box.length - 1; d >= 0 && ++at[d] == box[d][1] - box[d][0]; d--) {
                at[d] = 0;
            }
        }
        return result;
    }

    /** The whole value that the ranks' parts represent; fails if replicas differ or a part does not have the size of its box. */
    public static double[] join(Layout layout, Shape shape, List<double[]> parts) {
        int terms = 1;
        boolean pending = false;
        ReduceOp op = ReduceOp.SUM;
        for (int a = 0; a < layout.placements().size(); a++) {
            if (layout.placement(a) instanceof Partial p) {
                terms *= sizes(layout)[a];
                op = p.op();
                pending = true;
            }
        }
        Map<List<Integer>, double[]> replicas = new HashMap<>();
        Map<List<Integer>, int[]> arrived = new HashMap<>();
        for (int rank = 0; rank < parts.size(); rank++) {
            List<Integer> replica = replica(layout, rank);
            double[] sum = replicas.computeIfAbsent(replica, k -> new double[Math.toIntExact(shape.elements())]);
            int[] seen = arrived.computeIfAbsent(replica, k -> new int[Math.toIntExact(shape.elements())]);
            int[] indices = indices(box(layout, shape, rank), shape);
            if (indices.length != parts.get(rank).length) {
                throw new AssertionError("rank " + rank + " holds " + parts.get(rank).length + " elements of " + shape
                        + " laid out " + layout + " instead of " + indices.length);
            }
            for (int i = 0; i < indices.length; i++) {
                int index = indices[i];
                double term = parts.get(rank)[i];
                sum[index] = seen[index]++ == 0 ? term : reduce(op, sum[index], term);
            }
        }
        double[] value = replicas.get(replica(layout, 0));
        for (Map.Entry<List<Integer>, double[]> entry : replicas.entrySet()) {
            for (int i = 0; i < value.length; i++) {
                double other = entry.getValue()[i];
                boolean same = pending ? close(value[i], other) : Double.compare(value[i], other) == 0;
                if (!same || arrived.get(entry.getKey())[i] != terms) {
                    throw new AssertionError("element " + i + " of " + shape + " laid out " + layout + " is " + value[i]
                            + " on the first ranks and " + other + " on those at " + entry.getKey() + ", from "
                            + arrived.get(entry.getKey())[i] + " terms of " + terms);
                }
            }
        }
        if (op == ReduceOp.AVG) {
            for (int i = 0; i < value.length; i++) {
                value[i] /= terms;
            }
        }
        return value;
    }

    private static boolean close(double a, double b) {
        return Double.compare(a, b) == 0 || Math.abs(a - b) <= SAME * Math.max(1, Math.abs(a));
    }

    /** Coordinates on the axes whose ranks hold copies. */
    private static List<Integer> replica(Layout layout, int rank) {
        int[] at = coordinates(layout, rank);
        List<Integer> result = new ArrayList<>();
        for (int a = 0; a < at.length; a++) {
            if (layout.placement(a).isWhole()) {
                result.add(at[a]);
            }
        }
        return result;
    }

    private static double reduce(ReduceOp op, double a, double b) {
        return switch (op) {
            case SUM, AVG -> a + b;
            case PRODUCT -> a * b;
            case MAX -> Math.max(a, b);
            case MIN -> Math.min(a, b);
        };
    }

    /** Parts, one per rank, that represent {@code value}; the terms of pending reductions are drawn from the seed. */
    public static List<double[]> split(Layout layout, Shape shape, double[] value, long seed) {
        double[][] parts = new double[ranks(layout)][];
        for (int rank = 0; rank < parts.length; rank++) {
            double[] term = value;
            int[] at = coordinates(layout, rank);
            for (int a = 0; a < at.length; a++) {
                if (layout.placement(a) instanceof Placement.Partial p) {
                    term = terms(p.op(), term, sizes(layout)[a], new Random(seed * 31 + a))[at[a]];
                }
            }
            int[] indices = indices(box(layout, shape, rank), shape);
            parts[rank] = new double[indices.length];
            for (int i = 0; i < indices.length; i++) {
                parts[rank][i] = term[indices[i]];
            }
        }
        return List.of(parts);
    }

    private static double[][] terms(ReduceOp op, double[] value, int ranks, Random random) {
        double[][] terms = new double[ranks][value.length];
        for (int i = 0; i < value.length; i++) {
            double rest = op == ReduceOp.AVG ? value[i] * ranks : value[i];
            int owner = random.nextInt(ranks);
            for (int r = 0; r < ranks; r++) {
                double term = (random.nextInt(65) - 32) / 8.0;
                boolean last = r == ranks - 1;
                switch (op) {
                    case SUM, AVG -> {
                        terms[r][i] = last ? rest : term;
                        rest -= term;
                    }
                    case PRODUCT -> {
                        double power = random.nextBoolean() ? 2 : -0.5;
                        terms[r][i] = last ? rest : power;
                        rest /= power;
                    }
                    case MAX -> terms[r][i] = r == owner ? value[i] : value[i] - Math.abs(term);
                    case MIN -> terms[r][i] = r == owner ? value[i] : value[i] + Math.abs(term);
                }
            }
        }
        return terms;
    }
}
