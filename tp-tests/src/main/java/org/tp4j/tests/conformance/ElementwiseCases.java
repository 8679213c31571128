package org.tp4j.tests.conformance;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.run.Differences;

/** Activations, softmax and log-softmax: whole, and with each dimension sharded that may be. */
final class ElementwiseCases implements CaseRunner {
    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("x", "y", "grad_y")
                && about.shape("x").equals(about.shape("y"))
                && about.tensors().keySet().stream().noneMatch(n -> n.startsWith("param."));
    }

    private record Function(UnaryOperator<Tensor> body, int rowDim) {}

    /** By name; one that contains another's comes first. */
    private static Map<String, Function> functions(ReferenceCase about) {
        int dims = about.shape("x").dims();
        int dim = (int) about.number("dim", about.number("axis", -1));
        int row = dim < 0 ? dim + dims : dim;
        Map<String, Function> functions = new LinkedHashMap<>();
        functions.put("log_softmax", new Function(x -> x.logSoftmax(row), row));
        functions.put("softmax", new Function(x -> x.softmax(row), row));
        functions.put("gelu_tanh", new Function(Tensor::geluTanh, -1));
        functions.put("gelu", new Function(Tensor::gelu, -1));
        functions.put("silu", new Function(Tensor::silu, -1));
        functions.put("relu", new Function(Tensor::relu, -1));
        functions.put("sigmoid", new Function(Tensor::sigmoid, -1));
        functions.put("tanh", new Function(Tensor::tanh, -1));
        functions.put("exp", new Function(Tensor::exp, -1));
        functions.put("square", new Function(Tensor::square, -1));
        return functions;
    }

    private static Function find(CaseData data) {
        Map<String, Function> functions = functions(data.about());
        for (String words : data.about().descriptions()) {
            for (Map.Entry<String, Function> function : functions.entrySet()) {
                if (words.contains(function.getKey())) {
                    return function.getValue();
                }
            }
        }
        return nearest(data, List.copyOf(functions.values()));
    }

    @SuppressWarnings("try") // a mode that only lasts
    private static Function nearest(CaseData data, List<Function> functions) {
        double[] y = Differences.values(data.tensor("y"));
        Function best = functions.get(0);
        double least = Double.POSITIVE_INFINITY;
        try (GradMode off = GradMode.noGrad()) {
            for (Function candidate : functions) {
                double[] tried = candidate.body.apply(data.tensor("x")).toDoubles();
                double difference = Differences.relative(tried, y);
                if (difference < least) {
                    least = difference;
                    best = candidate;
                }
            }
        }
        return best;
    }

    @Override
    public List<String> run(CaseData data) {
        Function function = find(data);
        List<String> variants = new ArrayList<>();
        run(data, function, "whole", Placement.invariant(), variants);
        for (int dim = 0; dim < data.about().shape("x").dims(); dim++) {
            if (dim != function.rowDim) {
                run(data, function, "dimension " + dim + " sharded", Placement.shard(dim), variants);
            }
        }
        return variants;
    }

    private static void run(CaseData data, Function function, String name, Placement placement, List<String> variants) {
        variants.add(name);
        data.variant(name);
        Tensor x = data.tensor("x").requiresGrad(true);
        data.compareResult(x, function.body.apply(DTensors.distribute(x, data.mesh(), placement)));
    }
}
