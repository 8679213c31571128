package org.tp4j.examples.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.layout.Layout;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Region;
import org.tp4j.tensor.Shape;

/**
 * The shards of a parameter on a mesh with one axis.
 *
 * @param name dotted path
 * @param shape of the whole parameter
 * @param dtype type of its elements
 * @param placement on the axis
 * @param regions what each rank holds, in rank order
 */
public record ParameterShards(String name, Shape shape, DType dtype, Placement placement, List<Region> regions) {
    /** The shards of all parameters of a materialized model. */
    public static List<ParameterShards> of(Module model, int ranks) {
        List<ParameterShards> all = new ArrayList<>();
        model.parameters().forEach((name, parameter) -> all.add(of(name, parameter, ranks)));
        return all;
    }

    private static ParameterShards of(String name, Parameter parameter, int ranks) {
        Layout layout = parameter.layout();
        List<Region> regions = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            regions.add(layout == null ? Region.whole(parameter.shape()) : layout.regionOf(parameter.shape(), rank));
        }
        Placement placement = layout == null ? Placement.invariant() : layout.placement(0);
        return new ParameterShards(
                name, parameter.shape(), parameter.tensor().dtype(), placement, List.copyOf(regions));
    }

    /** The dim it is sharded along, or -1 if every rank holds it whole. */
    public int shardedDim() {
        return placement instanceof Placement.Shard shard ? shard.dim() : -1;
    }

    /** The range of the sharded dim that a rank holds, such as {@code rows 0-127}; {@code all} if it is not sharded. */
    public String range(int rank) {
        int dim = shardedDim();
        if (dim < 0) {
            return "all";
        }
        Region region = regions.get(rank);
        long count = region.local().size(dim);
        String noun = shape.dims() == 1 ? "elements" : dim == 0 ? "rows" : dim == 1 ? "columns" : "dim " + dim;
        return count == 0 ? "nothing" : noun + " " + region.offsets()[dim] + "-" + (region.offsets()[dim] + count - 1);
    }

    /** Bytes that a rank holds. */
    public long bytes(int rank) {
        return regions.get(rank).local().elements() * dtype.bytes();
    }

    /** The path of its module, with {@code *} for the index of repeated modules. */
    public String modulePattern() {
        int dot = name.lastIndexOf('.');
        return dot < 0 ? "" : name.substring(0, dot).replaceAll("(?<=\\.|^)\\d+(?=\\.|$)", "*");
    }

    /** Its name within its module. */
    public String ownName() {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private boolean looksLike(ParameterShards other) {
        return ownName().equals(other.ownName()) && shape.equals(other.shape) && placement.equals(other.placement);
    }

    /** Parameters by module pattern; of repeated modules only the first. */
    public static Map<String, List<ParameterShards>> byPattern(List<ParameterShards> all) {
        Map<String, List<ParameterShards>> groups = new LinkedHashMap<>();
        for (ParameterShards one : all) {
            List<ParameterShards> group = groups.computeIfAbsent(one.modulePattern(), p -> new ArrayList<>());
            if (group.stream().noneMatch(one::looksLike)) {
                group.add(one);
            }
        }
        return groups;
    }

    /** How many modules have a parameter like this one. */
    public static long repeats(List<ParameterShards> all, ParameterShards one) {
        return all.stream()
                .filter(p -> p.modulePattern().equals(one.modulePattern()) && p.looksLike(one))
                .count();
    }
}
