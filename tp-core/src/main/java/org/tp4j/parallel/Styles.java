package org.tp4j.parallel;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.tp4j.layout.DTensor;
import org.tp4j.layout.LayoutException;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Linear;
import org.tp4j.nn.Module;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.ExecutionContext;
import org.tp4j.tensor.Tensor;

/** What styles share. */
final class Styles {
    /** Activations have batch, sequence, heads and features, and rarely one or two more. */
    private static final int MOST_DIMS = 6;

    private Styles() {}

    /** The text of a style: its name and its non-empty options. */
    static String text(String name, String... options) {
        String said = Arrays.stream(options).filter(option -> !option.isEmpty()).collect(Collectors.joining(", "));
        return said.isEmpty() ? name : name + "(" + said + ")";
    }

    static List<String> linearOrEmbedding(ParallelStyle style, String path, Module module) {
        List<String> problems = new ArrayList<>();
        if (!(module instanceof Linear) && !(module instanceof Embedding)) {
            String parts = module.children().isEmpty()
                    ? ""
                    : "; HINT: name one of its parts " + module.children().keySet();
            problems.add("'" + path + "' is a " + module.getClass().getSimpleName() + ", but " + style
                    + " splits Linear and Embedding" + parts);
        }
        return problems;
    }

    /** A problem if the module has no tensor of that name; a module that does not declare its names is checked when called. */
    static List<String> unknownName(
            ParallelStyle style, String path, String side, @Nullable String name, List<String> declared) {
        if (name == null || declared.isEmpty() || declared.contains(name)) {
            return List.of();
        }
        return List.of("'" + path + "' has no " + side + " '" + name + "', which " + style
                + " redistributes; HINT: its " + side + "s are " + declared);
    }

    /** Problems of placements that no activation can have: dimensions are not known before the model runs, but are few. */
    static List<String> dimProblems(ParallelStyle style, String path, @Nullable Placement... placements) {
        List<String> problems = new ArrayList<>();
        for (Placement placement : placements) {
            if (placement instanceof Placement.Shard s && (s.dim() >= MOST_DIMS || s.dim() < -MOST_DIMS)) {
                problems.add("'" + path + "': " + style + " shards dimension " + s.dim()
                        + ", but no activation has more than " + MOST_DIMS
                        + " dimensions; HINT: dimensions count from 0, or from -1 for the last");
            }
        }
        return problems;
    }

    /** Checks that a tensor has the dimension that a style wants to shard. */
    static void requireDim(Tensor tensor, MeshAxis axis, @Nullable Placement wanted) {
        int dims = tensor.shape().dims();
        if (wanted instanceof Placement.Shard s && (s.dim() >= dims || s.dim() < -dims)) {
            throw new LayoutException(
                    "style",
                    "the style of module '" + ExecutionContext.current().modulePath() + "' wants " + wanted
                            + " along mesh axis '" + axis.name() + "', but the tensor " + tensor.shape() + " has "
                            + dims
                            + " dimensions; HINT: shard one of them in the plan's entry of the module");
        }
    }

    /** A problem if n is not a whole number of units, with the nearest sizes that are. */
    static List<String> unitProblem(String path, String dimension, long n, long unit, int ranks) {
        if (n % unit == 0) {
            return List.of();
        }
        long below = n / unit * unit;
        String sizes = below == 0
                ? "the nearest size that works is " + unit
                : "the nearest sizes that work are " + below + " and " + (below + unit);
        return List.of("'" + path + "': " + dimension + " has size " + n + ", which is not whole units of " + unit
                + " to cut for " + ranks + " ranks; HINT: " + sizes);
    }

    /** Has products with a module's parameters leave their sums pending in this type, if it is not null. */
    static void reduceIn(@Nullable DType type, Module module) {
        if (type != null && !type.isFloating()) {
            throw new IllegalArgumentException("sums cannot be reduced in " + type + "; HINT: name a float type");
        }
        module.ownParameters().values().forEach(parameter -> parameter.reduceIn(type));
    }

    /** Returns a result as it is, redistributed, or only this rank's part. */
    static Tensor finish(Tensor result, MeshAxis axis, @Nullable Placement output, boolean localOutput) {
        DTensor onMesh = (DTensor) result;
        requireDim(onMesh, axis, output);
        DTensor placed = output == null ? onMesh : onMesh.redistribute(axis.name(), output);
        return localOutput ? MeshAxis.leave(placed) : placed;
    }
}
