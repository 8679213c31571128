package org.tp4j.tests.op;

import java.util.List;
import java.util.function.Function;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** Reductions, softmax and products. */
final class ReductionSamples {
    private ReductionSamples() {}

    /** A reduction over some dimensions. */
    private interface Reduction {
        Tensor apply(Tensor x, boolean keepDims, int... dims);
    }

    static void addTo(Catalogue all) {
        all.unary("sum", draw -> draw.values(draw.shape(0, 3)), Tensor::sum);
        all.unary("sum of integers", draw -> draw.ids(draw.shape(0, 3), 9), Tensor::sum);
        all.unary("mean", draw -> draw.values(draw.full(0, 3)), Tensor::mean);
        over(all, "sum dims", draw -> draw.shape(0, 3), (x, keep, dims) -> x.sum(keep, dims));
        over(all, "mean dims", draw -> draw.full(0, 3), (x, keep, dims) -> x.mean(keep, dims));
        over(all, "max", draw -> draw.full(0, 3), Tensor::max);
        over(all, "min", draw -> draw.full(0, 3), Tensor::min);
        over(all, "variance", draw -> draw.full(0, 3), (x, keep, dims) -> x.variance(false, keep, dims));
        over(
                all,
                "variance unbiased",
                draw -> Draw.join(draw.full(0, 2), 3),
                (x, keep, dims) -> x.variance(true, keep, dims.length == 0 ? new int[] {-1} : dims));
        for (double p : new double[] {1, 2, 3, Double.POSITIVE_INFINITY}) {
            over(all, "norm " + p, draw -> draw.full(0, 3), (x, keep, dims) -> x.norm(p, keep, dims));
        }
        rowwise(all, "softmax", Tensor::softmax);
        rowwise(all, "logSoftmax", Tensor::logSoftmax);
        rowwise(all, "argmax", Tensor::argmax);
        products(all);
    }

    private static void over(Catalogue all, String name, Function<Draw, Shape> shapes, Reduction reduction) {
        all.add(name, draw -> {
            Shape shape = shapes.apply(draw);
            int[] dims = draw.dims(shape);
            boolean keep = draw.coin();
            boolean single = name.endsWith("unbiased") && count(shape, dims) < 2;
            int[] taken = single ? new int[] {-1} : dims;
            return new Sample(name, List.of(draw.values(shape)), in -> reduction.apply(in.get(0), keep, taken));
        });
    }

    private static long count(Shape shape, int... dims) {
        long n = 1;
        for (int d : dims) {
            n *= shape.size(d);
        }
        return n;
    }

    /** An operation along one dimension. */
    private interface Rowwise {
        Tensor apply(Tensor x, int dim);
    }

    private static void rowwise(Catalogue all, String name, Rowwise operation) {
        all.add(name, draw -> {
            Shape shape = draw.shape(0, 2);
            Shape with = Draw.join(shape, draw.atLeastOne());
            int dim = draw.dim(with);
            Shape swapped = with.with(-1, with.size(dim)).with(dim, with.size(-1));
            return new Sample(name, List.of(draw.values(swapped)), in -> operation.apply(in.get(0), dim));
        });
    }

    private static void products(Catalogue all) {
        for (boolean ta : new boolean[] {false, true}) {
            for (boolean tb : new boolean[] {false, true}) {
                String name = "matmul" + (ta ? " transposed" : "") + (tb ? " by transposed" : "");
                all.add(name, draw -> {
                    Shape batch = draw.shape(0, 2);
                    long m = draw.size();
                    long n = draw.size();
                    long k = draw.size();
                    Shape a = Draw.join(draw.broadcastable(batch), ta ? k : m, ta ? m : k);
                    Shape b = Draw.join(draw.broadcastable(batch), tb ? n : k, tb ? k : n);
                    return new Sample(
                            name,
                            List.of(draw.values(a), draw.values(b)),
                            in -> in.get(0).matmul(in.get(1), ta, tb));
                });
            }
        }
        all.add("linear", draw -> {
            long k = draw.size();
            long n = draw.size();
            Shape x = Draw.join(draw.shape(0, 2), k);
            if (draw.coin()) {
                return new Sample(
                        "linear",
                        List.of(draw.values(x), draw.values(Shape.of(n, k))),
                        in -> in.get(0).linear(in.get(1), null));
            }
            return new Sample(
                    "linear",
                    List.of(draw.values(x), draw.values(Shape.of(n, k)), draw.values(Shape.of(n))),
                    in -> in.get(0).linear(in.get(1), in.get(2)));
        });
    }
}
