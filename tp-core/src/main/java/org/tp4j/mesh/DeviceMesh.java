package org.tp4j.mesh;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.comm.internal.RankLists;
import org.tp4j.tensor.Backend;

/**
 * The ranks of a group arranged in an n-dimensional grid with named axes, the last axis running fastest.
 *
 * <pre>{@code
 * DeviceMesh mesh = DeviceMesh.of(world, Map.entry("dp", 2), Map.entry("tp", 4)); // ranks 0..3 are the first tp group
 * DeviceMesh tp = mesh.slice("tp");
 * }</pre>
 *
 * <p>Creating a mesh and {@link #flatten} are collective: every rank makes the same calls. An <em>axis</em> belongs to a
 * mesh, a <em>dim</em> to a tensor.
 */
public final class DeviceMesh {
    private final Backend backend;
    private final List<Axis> axes;
    private final Grid grid;

    /** What all slices of one mesh share. */
    private record Grid(
            ProcessGroup base,
            List<Integer> ranks,
            List<Axis> axes,
            Map<List<Axis>, Axis> flattened,
            Map<Object, Object> cache) {}

    private DeviceMesh(Backend backend, List<Axis> axes, Grid grid) {
        this.backend = backend;
        this.axes = List.copyOf(axes);
        this.grid = grid;
    }

    /** A mesh of one axis over all ranks. */
    public static DeviceMesh of(World world, String axis) {
        return of(world.group(), world.backend(), List.of(Map.entry(axis, world.size())));
    }

    /**
     * A mesh over all ranks.
     *
     * @param axes names and sizes, outermost first
     * @throws IllegalArgumentException if the product of the sizes is not the number of ranks, or a name repeats
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static DeviceMesh of(World world, Map.Entry<String, Integer>... axes) {
        return of(world.group(), world.backend(), Arrays.asList(axes));
    }

    /** A mesh over the ranks of {@code base}, whose arrays live on {@code backend}. */
    public static DeviceMesh of(ProcessGroup base, Backend backend, List<Map.Entry<String, Integer>> axes) {
        return of(base, backend, axes, IntStream.range(0, base.size()).boxed().toList());
    }

    /**
     * A mesh over the ranks of {@code base} in an order of its own, such as one that puts ranks of one node next to each
     * other.
     *
     * @param axes names and sizes, outermost first
     * @param ranks the rank of {@code base} at each position of the grid, the last axis running fastest; every rank once, and
     *     the same list on every rank
     * @throws IllegalArgumentException if the product of the sizes is not the number of ranks, a name repeats, or a rank is
     *     missing or repeats
     */
    public static DeviceMesh of(
            ProcessGroup base, Backend backend, List<Map.Entry<String, Integer>> axes, List<Integer> ranks) {
        long product = 1;
        Set<String> names = new HashSet<>();
        for (Map.Entry<String, Integer> axis : axes) {
            if (axis.getValue() < 1 || axis.getKey().isEmpty() || !names.add(axis.getKey())) {
                throw new IllegalArgumentException(
                        "mesh axes need distinct, non-empty names and sizes of at least 1, but are " + axes
                                + "; HINT: such as Map.entry(\"dp\", 2), Map.entry(\"tp\", 4)");
            }
            product *= axis.getValue();
        }
        if (product != base.size() || axes.isEmpty()) {
            throw new IllegalArgumentException(
                    "a mesh of " + axes + " needs " + product + " ranks, but group '" + base.name() + "' has "
                            + base.size() + "; HINT: the product of the axis sizes must be the number of ranks");
        }
        RankLists.requirePermutation("a mesh of " + axes, ranks, base.size());
        List<Axis> made = new ArrayList<>();
        List<Integer> sizes = axes.stream().map(Map.Entry::getValue).toList();
        for (int a = 0; a < sizes.size(); a++) {
            String name = axes.get(a).getKey();
            made.add(new Axis(name, along(base, ranks, name, sizes, List.of(a))));
        }
        return new DeviceMesh(
                backend,
                made,
                new Grid(
                        base, List.copyOf(ranks), List.copyOf(made), new LinkedHashMap<>(), new ConcurrentHashMap<>()));
    }

    /**
     * The group of the ranks that differ from this one only along the axes {@code members}, the last of them running
     * fastest. Every rank knows all groups, so that no message is needed and a {@link org.tp4j.comm.engine.FakeGroup} can be
     * partitioned too.
     */
    private static ProcessGroup along(
            ProcessGroup base, List<Integer> ranks, String name, List<Integer> sizes, List<Integer> members) {
        Map<Integer, TreeMap<Integer, Integer>> groups = new TreeMap<>();
        for (int position = 0; position < base.size(); position++) {
            int[] coordinates = new int[sizes.size()];
            int rest = position;
            for (int a = coordinates.length - 1; a >= 0; a--) {
                coordinates[a] = rest % sizes.get(a);
                rest /= sizes.get(a);
            }
            int key = 0;
            for (int a : members) {
                key = key * sizes.get(a) + coordinates[a];
                coordinates[a] = 0;
            }
            int color = 0;
            for (int a = 0; a < coordinates.length; a++) {
                color = color * sizes.get(a) + coordinates[a];
            }
            groups.computeIfAbsent(color, c -> new TreeMap<>()).put(key, ranks.get(position));
        }
        return base.partition(
                name, groups.values().stream().map(g -> List.copyOf(g.values())).toList());
    }

    /** The backend that holds this rank's part of each tensor. */
    public Backend backend() {
        return backend;
    }

    /** The axes, outermost first. */
    public List<Axis> axes() {
        return axes;
    }

    /** Number of axes. */
    public int axisCount() {
        return axes.size();
    }

    /**
     * Axis by number.
     *
     * @throws IllegalArgumentException if there is none; names the axes that exist
     */
    public Axis axis(int index) {
        if (index < 0 || index >= axes.size()) {
            throw new IllegalArgumentException("mesh " + this + " has no axis number " + index
                    + "; HINT: they count from 0 to " + (axes.size() - 1));
        }
        return axes.get(index);
    }

    /**
     * How another mesh differs from this one, for messages: which they are, and after HINT how to have one.
     *
     * @param other a mesh that is not equal to this one
     */
    public String differenceTo(DeviceMesh other) {
        boolean sameNames = toString().equals(other.toString());
        return other + " and " + this
                + (sameNames ? ", which have the same axes but were made by two calls of DeviceMesh.of" : "")
                + (grid == other.grid ? ", slices of one mesh" : "")
                + "; HINT: make one DeviceMesh with all axes";
    }

    /**
     * Number of the axis of that name.
     *
     * @throws IllegalArgumentException if there is none; names the axes that exist
     */
    public int axisIndex(String name) {
        for (int i = 0; i < axes.size(); i++) {
            if (axes.get(i).name().equals(name)) {
                return i;
            }
        }
        throw new IllegalArgumentException("mesh " + this + " has no axis '" + name + "'; HINT: its axes are "
                + axes.stream().map(Axis::name).toList());
    }

    /** Axis by name. */
    public Axis axis(String name) {
        return axes.get(axisIndex(name));
    }

    /** Number of ranks. */
    public int size() {
        return axes.stream().mapToInt(Axis::size).reduce(1, (a, b) -> a * b);
    }

    /** World ranks of the mesh's ranks, the last axis running fastest. */
    public List<Integer> worldRanks() {
        int[] sizes = grid.axes.stream().mapToInt(Axis::size).toArray();
        int[] coordinates = grid.axes.stream().mapToInt(Axis::coordinate).toArray();
        List<Integer> ranks = new ArrayList<>();
        for (int index = 0; index < size(); index++) {
            int rest = index;
            for (int a = axes.size() - 1; a >= 0; a--) {
                int at = grid.axes.indexOf(axes.get(a));
                if (at < 0) { // an axis that combines others
                    return axes.get(0).group().worldRanks();
                }
                coordinates[at] = rest % sizes[at];
                rest /= sizes[at];
            }
            int linear = 0;
            for (int a = 0; a < sizes.length; a++) {
                linear = linear * sizes[a] + coordinates[a];
            }
            ranks.add(grid.base.worldRanks().get(linear));
        }
        return List.copyOf(ranks);
    }

    /**
     * A cache for results about layouts on this mesh and its slices, which lives as long as they do. Keys compare by
     * content.
     */
    public Map<Object, Object> cache() {
        return grid.cache;
    }

    /** The mesh of some of the axes, in the order given. Not collective. */
    public DeviceMesh slice(String... names) {
        List<Axis> chosen = new ArrayList<>();
        for (String name : names) {
            Axis axis = axis(name);
            if (chosen.contains(axis)) {
                throw new IllegalArgumentException(
                        "axis '" + name + "' is listed twice; HINT: each axis of a slice is another one");
            }
            chosen.add(axis);
        }
        if (chosen.isEmpty()) {
            throw new IllegalArgumentException("a slice of mesh " + this + " needs at least one axis");
        }
        return new DeviceMesh(backend, chosen, grid);
    }

    /**
     * A mesh of one axis that combines several, the last of them running fastest. The first call for the same axes is
     * collective over the whole mesh.
     */
    public DeviceMesh flatten(String name, String... names) {
        List<Axis> chosen = slice(names).axes;
        Axis flat = grid.flattened.get(chosen);
        if (flat == null) {
            flat = combine(name, chosen);
            grid.flattened.put(chosen, flat);
        }
        return new DeviceMesh(backend, List.of(flat), grid);
    }

    private Axis combine(String name, List<Axis> chosen) {
        List<Integer> sizes = grid.axes.stream().map(Axis::size).toList();
        List<Integer> members = chosen.stream().map(grid.axes::indexOf).toList();
        return new Axis(name, along(grid.base, grid.ranks, name, sizes, members));
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof DeviceMesh that && axes.equals(that.axes);
    }

    @Override
    public int hashCode() {
        return axes.hashCode();
    }

    /** Names and sizes, such as {@code (dp=2, tp=4)}. */
    @Override
    public String toString() {
        return axes.stream().map(Axis::toString).collect(Collectors.joining(", ", "(", ")"));
    }
}
