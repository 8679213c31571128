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
 * Which rank holds which part of a parameter, on a mesh of one axis.
 *
 * @param name dotted path
 * @param shape of the whole
 * @param dtype of its elements
 * @param placement along the axis
 * @param parts the box of each rank, in rank order
 */
public record ParameterShards(String name, Shape shape, DType dtype, Placement placement, List<Region> parts) {
    /** Those of all parameters of a materialized model. */
    public static List<ParameterShards> of(Module model, int ranks) {
        List<ParameterShards> all = new ArrayList<>();
        model.parameters().forEach((name, parameter) -> all.add(of(name, parameter, ranks)));
        return all;
    }

    private static ParameterShards of(String name, Parameter parameter, int ranks) {
        Layout layout = parameter.layout();
        List<Region> parts = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            parts.add(layout == null ? Region.whole(parameter.shape()) : layout.regionOf(parameter.shape(), rank));
        }
        Placement placement = layout == null ? Placement.invariant() : layout.placement(0);
        return new ParameterShards(name, parameter.shape(), parameter.tensor().dtype(), placement, List.copyOf(parts));
    }

    /** The dimension it is cut along, or -1 if every rank holds it whole. */
    public int cutDim() {
        return placement instanceof Placement.Shard shard ? shard.dim() : -1;
    }

    /** What a rank holds of the cut dimension, such as {@code rows 0-127}; {@code all} if it is not cut. */
    public String held(int rank) {
        int dim = cutDim();
        if (dim < 0) {
            return "all";
        }
        Region part = parts.get(rank);
        long count = part.local().size(dim);
        String noun = shape.dims() == 1 ? "elements" : dim == 0 ? "rows" : dim == 1 ? "columns" : "dimension " + dim;
        return count == 0 ? "nothing" : noun + " " + part.offsets()[dim] + "-" + (part.offsets()[dim] + count - 1);
    }

    /** Bytes a rank holds. */
    public long bytes(int rank) {
        return parts.get(rank).local().elements() * dtype.bytes();
    }

    /** The module it belongs to, numbers of repeated modules written as {@code *}. */
    public String modulePattern() {
        int dot = name.lastIndexOf('.');
        return dot < 0 ? "" : name.substring(0, dot).replaceAll("(?<=\\.|^)\\d+(?=\\.|$)", "*");
    }

    /** The name within its module. */
    public String ownName() {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    private boolean looksLike(ParameterShards other) {
        return ownName().equals(other.ownName()) && shape.equals(other.shape) && placement.equals(other.placement);
    }

    /** By module pattern, repeated modules once: the parameters of the first, in order. */
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

    /** How many modules of the model a pattern stands for. */
    public static long repeats(List<ParameterShards> all, ParameterShards one) {
        return all.stream()
                .filter(p -> p.modulePattern().equals(one.modulePattern()) && p.looksLike(one))
                .count();
    }
}
