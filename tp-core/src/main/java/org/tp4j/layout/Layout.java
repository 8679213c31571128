package org.tp4j.layout;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/**
 * How a tensor is laid out on a mesh: one {@link Placement} for each mesh axis and, where several axes cut one dimension,
 * the order in which they cut it. Immutable.
 *
 * <p>By default the axes cut from the first to the last: on a mesh (dp, tp) with both cutting dimension 0, tp cuts the
 * pieces of dp. {@link #withCutOrder} records another order.
 */
public final class Layout {
    private final DeviceMesh mesh;
    private final Placement[] placements;
    /** Axes with a Shard, grouped by dimension, outermost cut first within each. */
    private final int[] cuts;

    private final int hash;
    private @Nullable Region last; // one field, so that threads never see half an update

    private Layout(DeviceMesh mesh, Placement[] placements, int[] cuts) {
        this.mesh = mesh;
        this.placements = placements;
        this.cuts = cuts;
        this.hash = (mesh.hashCode() * 31 + Arrays.hashCode(placements)) * 31 + Arrays.hashCode(cuts);
    }

    /**
     * A layout of tensors with {@code dims} dimensions.
     *
     * @param placements one for each axis of the mesh; dimensions of shards may be negative
     * @throws IllegalArgumentException if their number is wrong or a dimension is out of range
     */
    public static Layout of(DeviceMesh mesh, int dims, Placement... placements) {
        return of(mesh, dims, Arrays.asList(placements));
    }

    /** As {@link #of(DeviceMesh, int, Placement...)}. */
    public static Layout of(DeviceMesh mesh, int dims, List<? extends Placement> placements) {
        if (placements.size() != mesh.axisCount()) {
            throw new IllegalArgumentException(
                    "mesh " + mesh + " has " + mesh.axisCount() + " axes, but " + placements.size()
                            + " placements are given: " + placements + "; HINT: one placement for each axis");
        }
        Placement[] normalized = new Placement[placements.size()];
        int[] order = new int[placements.size()];
        int shards = 0;
        for (int a = 0; a < normalized.length; a++) {
            Placement p = placements.get(a);
            if (p instanceof Placement.Shard s) {
                if (s.dim() < -dims || s.dim() >= dims) {
                    throw new IllegalArgumentException("Shard(" + s.dim() + ") on mesh axis '"
                            + mesh.axis(a).name() + "': a tensor of " + dims + " dimensions has no dimension "
                            + s.dim());
                }
                p = s.dim() < 0 ? new Placement.Shard(s.dim() + dims, s.unit()) : s;
                order[shards++] = a;
            }
            normalized[a] = p;
        }
        return new Layout(mesh, normalized, canonical(normalized, Arrays.copyOf(order, shards)));
    }

    /**
     * As {@link #of(DeviceMesh, int, List)} with the order of the cuts.
     *
     * @param cutOrder axes by number, an outer cut before an inner one; axes without a shard are ignored
     */
    public static Layout of(DeviceMesh mesh, int dims, List<? extends Placement> placements, List<Integer> cutOrder) {
        Layout plain = of(mesh, dims, placements);
        int[] order = cutOrder.stream()
                .filter(a -> plain.placements[a] instanceof Placement.Shard)
                .mapToInt(Integer::intValue)
                .toArray();
        requireSameAxes(plain, order, cutOrder);
        return new Layout(mesh, plain.placements, canonical(plain.placements, order));
    }

    private static void requireSameAxes(Layout plain, int[] order, Object asked) {
        int[] sorted = order.clone();
        int[] due = plain.cuts.clone();
        Arrays.sort(sorted);
        Arrays.sort(due);
        if (!Arrays.equals(sorted, due)) {
            throw new IllegalArgumentException(
                    "the cut order " + asked + " must name each sharded axis of " + plain + " once");
        }
    }

    /** A layout with the same placement on every axis. */
    public static Layout uniform(DeviceMesh mesh, int dims, Placement placement) {
        Placement[] all = new Placement[mesh.axisCount()];
        Arrays.fill(all, placement);
        return of(mesh, dims, all);
    }

    private static int[] canonical(Placement[] placements, int[] order) {
        if (order.length < 2) {
            return order;
        }
        Integer[] boxed = Arrays.stream(order).boxed().toArray(Integer[]::new);
        Arrays.sort(
                boxed,
                (a, b) -> Integer.compare(
                        ((Placement.Shard) placements[a]).dim(), ((Placement.Shard) placements[b]).dim()));
        return Arrays.stream(boxed).mapToInt(Integer::intValue).toArray();
    }

    /**
     * The same placements with the axes cutting in another order.
     *
     * @param axisNames every axis that has a Shard, the outermost cut first
     */
    public Layout withCutOrder(String... axisNames) {
        int[] order = Arrays.stream(axisNames).mapToInt(mesh::axisIndex).toArray();
        requireSameAxes(this, order, Arrays.toString(axisNames));
        return new Layout(mesh, placements, canonical(placements, order));
    }

    /** The mesh. */
    public DeviceMesh mesh() {
        return mesh;
    }

    /** Placement on one axis. */
    public Placement placement(int axis) {
        return placements[axis];
    }

    /** All placements, by axis. */
    public List<Placement> placements() {
        return List.of(placements);
    }

    /** Axes that cut {@code dim}, the outermost cut first. */
    public List<Integer> cutsOf(int dim) {
        List<Integer> result = new ArrayList<>();
        for (int axis : cuts) {
            if (((Placement.Shard) placements[axis]).dim() == dim) {
                result.add(axis);
            }
        }
        return result;
    }

    /** Axes that cut, by dimension, an outer cut before an inner one. */
    public List<Integer> cuts() {
        return Arrays.stream(cuts).boxed().toList();
    }

    /** All axes by number, those that cut first, an outer cut before an inner one; what {@link #of} takes. */
    public List<Integer> cutOrder() {
        List<Integer> order = new ArrayList<>(cuts());
        for (int axis = 0; axis < placements.length; axis++) {
            if (!(placements[axis] instanceof Placement.Shard)) {
                order.add(axis);
            }
        }
        return order;
    }

    /** Whether this axis' cut is the innermost of its dimension; true if the axis has no cut. */
    public boolean isInnermost(int axis) {
        if (!(placements[axis] instanceof Placement.Shard s)) {
            return true;
        }
        List<Integer> all = cutsOf(s.dim());
        return all.get(all.size() - 1) == axis;
    }

    /** This layout with another placement on one axis; a new shard becomes the innermost cut of its dimension. */
    public Layout with(int axis, Placement placement) {
        if (placements[axis].equals(placement)) {
            return this;
        }
        Placement[] next = placements.clone();
        next[axis] = placement;
        int[] order = new int[cuts.length + 1];
        int n = 0;
        for (int a : cuts) {
            if (a != axis) {
                order[n++] = a;
            }
        }
        if (placement instanceof Placement.Shard) {
            order[n++] = axis;
        }
        return new Layout(mesh, next, canonical(next, Arrays.copyOf(order, n)));
    }

    /** The layout of the gradient of a tensor with this layout. */
    public Layout dual() {
        Placement[] next = new Placement[placements.length];
        for (int a = 0; a < next.length; a++) {
            next[a] = placements[a].dual();
        }
        return new Layout(mesh, next, cuts);
    }

    /** Whether a sum is pending on some axis. */
    public boolean isPendingSum() {
        for (Placement placement : placements) {
            if (placement.isPartialSum()) {
                return true;
            }
        }
        return false;
    }

    /** Whether no axis is cut or pending, so that every rank holds the whole value. */
    public boolean isWhole() {
        for (Placement p : placements) {
            if (!p.isWhole()) {
                return false;
            }
        }
        return true;
    }

    /** Shape of this rank's piece. */
    public Shape localShape(Shape global) {
        return region(global).local();
    }

    /**
     * The box of the global tensor this rank holds.
     *
     * @throws IllegalArgumentException if a dimension does not consist of whole units
     */
    public Region region(Shape global) {
        Region cached = last;
        if (cached != null && cached.global().equals(global)) {
            return cached;
        }
        checkUnits(global);
        Region region = regionOf(global, axisCoordinates());
        last = region;
        return region;
    }

    /** Whether every rank holds the same elements under both layouts, whatever their units and empty boxes. */
    public boolean cutsLike(Layout other, Shape global) {
        int[] coordinates = new int[placements.length];
        do {
            Region a = regionOf(global, coordinates);
            Region b = other.regionOf(global, coordinates);
            if (!a.equals(b) && (a.local().elements() > 0 || b.local().elements() > 0)) {
                return false;
            }
        } while (next(coordinates));
        return true;
    }

    private boolean next(int[] coordinates) {
        for (int axis = coordinates.length - 1; axis >= 0; axis--) {
            if (++coordinates[axis] < mesh.axis(axis).size()) {
                return true;
            }
            coordinates[axis] = 0;
        }
        return false;
    }

    /** Checks that all ranks' pieces, not only this one's, are whole units, so that all ranks throw or none. */
    private void checkUnits(Shape global) {
        for (int d = 0; d < global.dims(); d++) {
            Set<Long> pieces = Set.of(global.size(d));
            for (int axis : cutsOf(d)) {
                Placement.Shard s = (Placement.Shard) placements[axis];
                int ranks = mesh.axis(axis).size();
                Set<Long> next = new TreeSet<>();
                for (long n : pieces) {
                    if (n % s.unit() != 0) {
                        throw new IllegalArgumentException("dimension " + d + " of shape " + global + " has pieces of "
                                + n + " elements, which are not whole units of " + s.unit() + " for " + s);
                    }
                    for (int r = 0; r < ranks; r++) {
                        next.add(s.count(n, r, ranks));
                    }
                }
                pieces = next;
            }
        }
    }

    private int[] axisCoordinates() {
        int[] coordinates = new int[placements.length];
        for (int a = 0; a < coordinates.length; a++) {
            coordinates[a] = mesh.axis(a).coordinate();
        }
        return coordinates;
    }

    /**
     * The box held by the rank at the given coordinates.
     *
     * @throws IllegalArgumentException if a dimension does not consist of whole units
     */
    public Region regionOf(Shape global, int... coordinates) {
        if (cuts.length == 0) {
            return Region.whole(global);
        }
        long[] local = global.toArray();
        long[] offsets = new long[local.length];
        for (int axis : cuts) {
            Placement.Shard s = (Placement.Shard) placements[axis];
            long n = local[s.dim()];
            if (n % s.unit() != 0) {
                throw new IllegalArgumentException("dimension " + s.dim() + " of shape " + global + " has pieces of "
                        + n + " elements, which are not whole units of " + s.unit() + " for " + s);
            }
            int p = mesh.axis(axis).size();
            offsets[s.dim()] += s.begin(n, coordinates[axis], p);
            local[s.dim()] = s.count(n, coordinates[axis], p);
        }
        return new Region(global, Shape.of(local), offsets);
    }

    @Override
    public boolean equals(Object other) {
        return this == other
                || other instanceof Layout that
                        && hash == that.hash
                        && mesh.equals(that.mesh)
                        && Arrays.equals(placements, that.placements)
                        && Arrays.equals(cuts, that.cuts);
    }

    @Override
    public int hashCode() {
        return hash;
    }

    /** Placements by axis, such as {@code [dp: Shard(0), tp: Replicate]}; a cut order other than the axes' is added. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("[");
        for (int a = 0; a < placements.length; a++) {
            text.append(a == 0 ? "" : ", ")
                    .append(mesh.axis(a).name())
                    .append(": ")
                    .append(placements[a]);
        }
        if (!Arrays.equals(cuts, canonicalDefault())) {
            text.append("; cut in the order ")
                    .append(Arrays.stream(cuts)
                            .mapToObj(a -> mesh.axis(a).name())
                            .collect(Collectors.joining(", ")));
        }
        return text.append("]").toString();
    }

    private int[] canonicalDefault() {
        int[] sorted = cuts.clone();
        Arrays.sort(sorted);
        return canonical(placements, sorted);
    }
}
