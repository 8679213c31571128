package org.tp4j.tests.conformance;

import java.util.List;
import java.util.Map;
import org.tp4j.layout.Placement;
import org.tp4j.nn.Embedding;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Initializer;
import org.tp4j.op.internal.GatherRowsOp;
import org.tp4j.parallel.ColwiseParallel;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.RowwiseParallel;
import org.tp4j.tensor.Shape;

/** An embedding: its table cut into rows (vocabulary-parallel), and into columns with the output gathered. */
final class EmbeddingCases implements CaseRunner {
    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("ids", "y", "grad_y") && about.has("param.weight", 2);
    }

    @Override
    public List<String> run(CaseData data) {
        run(data, "vocabulary-parallel", new RowwiseParallel());
        run(data, "columns sharded", new ColwiseParallel().withOutput(Placement.invariant()));
        return List.of("vocabulary-parallel", "columns sharded");
    }

    private static void run(CaseData data, String name, ParallelStyle style) {
        data.variant(name);
        Shape table = data.about().shape("param.weight");
        boolean padded = data.about().setting("padding_idx") != null;
        long padding = padded ? (long) data.about().number("padding_idx", 0) : GatherRowsOp.NO_PADDING;
        Embedding embedding = new Embedding(table.size(0), table.size(1), Initializer.zeros(), padding);
        Parallelize.apply(embedding, data.mesh(), Map.of("", style));
        data.withParameters(embedding);
        var y = embedding.apply(data.tensor("ids"));
        data.compare("y", y);
        y.mul(data.tensor("grad_y")).sum().backward();
        Gradients.finish(embedding.parameters().values());
        data.compareGradient("grad.weight", embedding.weight().tensor());
    }
}
