package org.tp4j.tests.op;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.tp4j.autograd.Tensors;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.oracle.Whole;

/** Operations that move elements. */
final class ShapeSamples {
    private ShapeSamples() {}

    static void addTo(Catalogue all) {
        all.add("reshape", ShapeSamples::reshape);
        all.add("transpose", draw -> {
            Shape shape = draw.shape(1, 4);
            int a = draw.dim(shape);
            int b = draw.dim(shape);
            return new Sample(
                    "transpose", List.of(draw.values(shape)), in -> in.get(0).transpose(a, b));
        });
        all.add("permute", draw -> {
            Shape shape = draw.shape(0, 4);
            int[] order = draw.order(shape);
            return new Sample(
                    "permute", List.of(draw.values(shape)), in -> in.get(0).permute(order));
        });
        all.add("unsqueeze", draw -> {
            Shape shape = draw.shape(0, 3);
            int dim = draw.below(shape.dims() + 1);
            return new Sample(
                    "unsqueeze",
                    List.of(draw.values(shape)),
                    in -> in.get(0).unsqueeze(dim).unsqueeze(-1));
        });
        all.add("squeeze", draw -> {
            Shape shape = draw.shape(0, 3);
            int dim = draw.below(shape.dims() + 1);
            return new Sample(
                    "squeeze",
                    List.of(draw.values(shape)),
                    in -> in.get(0).unsqueeze(dim).mul(2).squeeze(dim));
        });
        all.add("flatten", draw -> {
            Shape shape = draw.shape(1, 4);
            int from = draw.below(shape.dims());
            int to = from + draw.below(shape.dims() - from);
            return new Sample(
                    "flatten", List.of(draw.values(shape)), in -> in.get(0).flatten(from, to));
        });
        all.add("stack", draw -> {
            Shape shape = draw.shape(0, 3);
            int dim = draw.below(shape.dims() + 1);
            List<Whole> pieces = List.of(draw.values(shape), draw.values(shape));
            return new Sample("stack", pieces, in -> Tensors.stack(dim, in.get(0), in.get(1)));
        });
        all.add("slice", draw -> {
            Shape shape = draw.shape(1, 3);
            int dim = draw.dim(shape);
            long from = draw.below((int) shape.size(dim) + 1);
            long to = from + draw.below((int) (shape.size(dim) - from) + 1);
            return new Sample(
                    "slice", List.of(draw.values(shape)), in -> in.get(0).slice(dim, from, to));
        });
        all.add("split", draw -> {
            Shape shape = draw.shape(1, 3);
            int dim = draw.dim(shape);
            long first = draw.below((int) shape.size(dim) + 1);
            return new Sample("split", List.of(draw.values(shape)), in -> {
                Tensor[] pieces = in.get(0).split(dim, first, shape.size(dim) - first);
                return Tensors.concat(dim, pieces[1], pieces[0].mul(2));
            });
        });
        all.add("expand", draw -> {
            Shape to = draw.shape(0, 4);
            return new Sample(
                    "expand",
                    List.of(draw.values(draw.broadcastable(to))),
                    in -> in.get(0).expand(to.toArray()));
        });
        all.add("pad", draw -> {
            Shape shape = draw.shape(1, 3);
            int dim = draw.dim(shape);
            long before = draw.below(3);
            long after = draw.below(3);
            double value = draw.coin() ? 0 : 1.5;
            return new Sample(
                    "pad", List.of(draw.values(shape)), in -> in.get(0).pad(dim, before, after, value));
        });
        all.add("concat", draw -> {
            Shape shape = draw.shape(1, 3);
            int dim = draw.dim(shape);
            List<Whole> pieces = new ArrayList<>();
            for (int i = 0; i <= draw.below(3); i++) {
                pieces.add(draw.values(shape.with(dim, draw.size())));
            }
            return new Sample("concat", pieces, in -> Tensors.concat(dim, in.toArray(new Tensor[0])));
        });
    }

    private static Sample reshape(Draw draw) {
        // both shapes come from one list of factors, grouped in two ways, with ones inserted
        long[] factors = draw.shape(1, 5).toArray();
        Shape from = grouped(draw, factors);
        long[] to = grouped(draw, factors).toArray();
        if (to.length > 0 && from.elements() > 0 && draw.coin()) {
            to[draw.below(to.length)] = -1;
        }
        return new Sample("reshape", List.of(draw.values(from)), in -> in.get(0).reshape(to));
    }

    private static Shape grouped(Draw draw, long... factors) {
        List<Long> sizes = new ArrayList<>();
        for (long factor : factors) {
            if (!sizes.isEmpty() && draw.coin()) {
                sizes.set(sizes.size() - 1, sizes.get(sizes.size() - 1) * factor);
            } else {
                sizes.add(factor);
            }
            if (draw.below(4) == 0) {
                sizes.add(1L);
            }
        }
        if (draw.below(6) == 0) {
            sizes = new ArrayList<>(
                    Collections.singletonList(Arrays.stream(factors).reduce(1, (a, b) -> a * b)));
        }
        return Shape.of(sizes.stream().mapToLong(Long::longValue).toArray());
    }
}
