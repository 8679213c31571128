package org.tp4j.tests.op;

import java.util.List;
import java.util.function.BiFunction;
import java.util.function.BinaryOperator;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.BinaryFunction;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;
import org.tp4j.tensor.UnaryFunction;
import org.tp4j.tests.oracle.Whole;

/** Elementwise operations: the functions by their descriptions, then what is made with them. */
final class ElementwiseSamples {
    private ElementwiseSamples() {}

    static void addTo(Catalogue all) {
        for (UnaryFunction function : UnaryFunction.values()) {
            if (function.isDefinedFor(DType.FLOAT64)) {
                all.unary(
                        Functions.name(function), draw -> argument(function, draw), x -> Functions.apply(function, x));
            }
        }
        for (BinaryFunction function : BinaryFunction.values()) {
            if (function.isDefinedFor(DType.FLOAT64)) {
                boolean divides = Double.isInfinite(function.apply(1.0, 0.0));
                binary(
                        all,
                        Functions.name(function),
                        divides ? Draw::awayFromZero : Draw::values,
                        (a, b) -> Functions.apply(function, a, b));
            }
        }
        numbers(all);
        casts(all);
        choices(all);
        fused(all);
    }

    /** Numbers of the function's domain, away from poles. */
    private static Whole argument(UnaryFunction function, Draw draw) {
        Shape shape = draw.shape(0, 3);
        if (Double.isNaN(function.apply(-1.0, Functions.A, Functions.B))) {
            return draw.positive(shape);
        }
        boolean pole = Double.isInfinite(function.apply(0.0, Functions.A, Functions.B));
        return pole ? draw.awayFromZero(shape) : draw.values(shape);
    }

    private static void binary(
            Catalogue all, String name, BiFunction<Draw, Shape, Whole> second, BinaryOperator<Tensor> function) {
        all.add(name, draw -> {
            Shape shape = draw.shape(0, 3);
            Shape a = draw.broadcastable(shape);
            Shape b = draw.broadcastable(shape);
            return new Sample(
                    name, List.of(draw.values(a), second.apply(draw, b)), in -> function.apply(in.get(0), in.get(1)));
        });
    }

    private static Whole any(Draw draw) {
        return draw.values(draw.shape(0, 3));
    }

    private static void numbers(Catalogue all) {
        all.unary("add number", ElementwiseSamples::any, x -> x.add(2.5));
        all.unary("sub number", ElementwiseSamples::any, x -> x.sub(-1.5));
        all.unary("mul number", ElementwiseSamples::any, x -> x.mul(-3));
        all.unary("div number", ElementwiseSamples::any, x -> x.div(4));
        all.unary("pow", draw -> draw.positive(draw.shape(0, 3)), x -> x.pow(1.7));
        all.unary("pow whole", draw -> draw.awayFromZero(draw.shape(0, 3)), x -> x.pow(3));
        all.unary("clamp", ElementwiseSamples::any, x -> x.clamp(-0.7501, 1.1003));
    }

    private static void casts(Catalogue all) {
        all.add(
                "cast",
                draw -> new Sample(
                        "cast",
                        List.of(draw.narrow(draw.shape(0, 3))),
                        in -> in.get(0).cast(DType.FLOAT32).cast(DType.FLOAT64),
                        true));
        all.unary("cast to integers", ElementwiseSamples::any, x -> x.cast(DType.INT64));
        all.unary("cast of truths", draw -> draw.truths(draw.shape(0, 3)), x -> x.cast(DType.FLOAT64));
        all.unary("not", draw -> draw.truths(draw.shape(0, 3)), Tensor::not);
    }

    private static void choices(Catalogue all) {
        all.add("where", draw -> {
            Shape shape = draw.shape(0, 3);
            Whole condition = draw.truths(draw.broadcastable(shape));
            Whole a = draw.values(draw.broadcastable(shape));
            Whole b = draw.values(draw.broadcastable(shape));
            return new Sample("where", List.of(a, condition, b), in -> in.get(0).where(in.get(1), in.get(2)));
        });
        all.add("maskedFill", draw -> {
            Shape shape = draw.shape(0, 3);
            Whole mask = draw.truths(draw.broadcastable(shape));
            double value = draw.coin() ? 0 : -7.5;
            return new Sample(
                    "maskedFill",
                    List.of(draw.values(shape), mask),
                    in -> in.get(0).maskedFill(in.get(1), value));
        });
    }

    private static void fused(Catalogue all) {
        for (Activation activation : Activation.values()) {
            String bias = "biasActivation " + activation;
            all.add(bias, draw -> {
                Shape shape = draw.shape(1, 3);
                Whole b = draw.values(Shape.of(shape.size(-1)));
                return new Sample(
                        bias, List.of(draw.values(shape), b), in -> in.get(0).biasActivation(in.get(1), activation));
            });
            String gated = "gated " + activation;
            all.add(gated, draw -> {
                Shape shape = draw.shape(0, 3);
                return new Sample(
                        gated,
                        List.of(draw.values(shape), draw.values(shape)),
                        in -> in.get(0).gated(in.get(1), activation));
            });
        }
        for (double p : new double[] {0, 0.4}) {
            all.unary("dropout " + p, ElementwiseSamples::any, x -> x.dropout(p, 7, 11));
        }
    }
}
