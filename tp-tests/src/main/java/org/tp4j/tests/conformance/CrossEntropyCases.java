package org.tp4j.tests.conformance;

import java.util.ArrayList;
import java.util.List;
import org.tp4j.autograd.DTensors;
import org.tp4j.layout.Placement;
import org.tp4j.tensor.CrossEntropyOptions;
import org.tp4j.tensor.CrossEntropyOptions.Reduction;
import org.tp4j.tensor.Tensor;

/** Cross entropy over the last dimension: whole, and with each dimension of rows sharded. */
final class CrossEntropyCases implements CaseRunner {
    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("logits", "target", "loss", "grad_logits");
    }

    private static Reduction reduction(ReferenceCase about) {
        if (about.shape("loss").dims() > 0) {
            return Reduction.NONE;
        }
        var set = about.setting("reduction");
        if (set != null) {
            return Reduction.valueOf(set.asText().toUpperCase(java.util.Locale.ROOT));
        }
        for (String words : about.descriptions()) {
            if (words.contains("_sum") || words.contains("reduction sum")) {
                return Reduction.SUM;
            }
        }
        return Reduction.MEAN;
    }

    @Override
    public List<String> run(CaseData data) {
        ReferenceCase about = data.about();
        CrossEntropyOptions options = new CrossEntropyOptions(
                reduction(about),
                (long) about.number("ignore_index", CrossEntropyOptions.DEFAULT_IGNORE_INDEX),
                about.number("label_smoothing", 0),
                about.number("z_loss", 0));
        List<String> variants = new ArrayList<>();
        run(data, options, "whole", Placement.invariant(), variants);
        for (int dim = 0; dim < about.shape("target").dims(); dim++) {
            run(data, options, "rows sharded along " + dim, Placement.shard(dim), variants);
        }
        return variants;
    }

    private static void run(
            CaseData data, CrossEntropyOptions options, String name, Placement placement, List<String> variants) {
        variants.add(name);
        data.variant(name);
        Tensor logits = data.tensor("logits").requiresGrad(true);
        Tensor loss = DTensors.distribute(logits, data.mesh(), placement)
                .crossEntropy(DTensors.distribute(data.tensor("target"), data.mesh(), placement), options);
        data.compare("loss", loss);
        Tensor weighted = data.about().has("grad_loss") ? loss.mul(data.tensor("grad_loss")) : loss;
        weighted.sum().backward();
        data.compareGradient("grad_logits", logits);
    }
}
