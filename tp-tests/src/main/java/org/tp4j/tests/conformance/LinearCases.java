package org.tp4j.tests.conformance;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Linear;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Shape;
import org.tp4j.tensor.Tensor;

/** A linear layer: column-parallel with its output gathered, and row-parallel from a whole input. */
final class LinearCases implements CaseRunner {
    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("x", "y", "grad_y") && about.has("param.weight", 2);
    }

    @Override
    public List<String> run(CaseData data) {
        Map<String, ParallelStyle> ways = Map.of(
                "column-parallel", new ColwiseParallel().withOutput(Placement.invariant()),
                "row-parallel", new RowwiseParallel().withInput(Placement.invariant()));
        List<String> names = List.of("column-parallel", "row-parallel");
        for (String name : names) {
            data.variant(name);
            Shape weight = data.about().shape("param.weight");
            Linear linear =
                    new Linear(weight.size(1), weight.size(0), data.about().has("param.bias"));
            Parallelize.apply(linear, data.mesh(), Map.of("", ways.get(name)));
            data.withParameters(linear);
            Tensor x = data.tensor("x").requiresGrad(true);
            data.compareAll(linear, x, linear.apply(x));
        }
        return names;
    }
}
