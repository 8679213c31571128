package org.tp4j.tests.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tp4j.nn.Layer;
import org.tp4j.nn.LayerNorm;
import org.tp4j.nn.RmsNorm;
import org.tp4j.parallel.ParallelStyle;
import org.tp4j.parallel.Parallelize;
import org.tp4j.parallel.SequenceParallel;
import org.tp4j.tensor.Tensor;

/** LayerNorm and RMSNorm: whole, and with each dimension sharded that is not normalised over. */
final class NormCases implements CaseRunner {
    private static final double LAYER_NORM_EPS = 1e-5; // PyTorch's default
    private static final double RMS_NORM_EPS = 1e-6; // what language models use

    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("x", "y", "grad_y") && about.has("param.weight", 1);
    }

    private static Layer build(ReferenceCase about) {
        boolean rms = false;
        boolean layer = false;
        for (String words : about.descriptions()) {
            rms |= words.contains("rms");
            layer |= words.contains("layer");
        }
        long size = about.shape("param.weight").size(0);
        boolean bias = about.has("param.bias");
        return bias || layer && !rms
                ? new LayerNorm(size, about.number("eps", LAYER_NORM_EPS), bias)
                : new RmsNorm(size, about.number("eps", RMS_NORM_EPS));
    }

    @Override
    public List<String> run(CaseData data) {
        List<String> variants = new ArrayList<>();
        run(data, "whole", Map.of(), variants);
        for (int dim = 0; dim < data.about().shape("x").dims() - 1; dim++) {
            run(data, "dimension " + dim + " sharded", Map.of("", new SequenceParallel(dim)), variants);
        }
        return variants;
    }

    private static void run(CaseData data, String name, Map<String, ParallelStyle> plan, List<String> variants) {
        variants.add(name);
        data.variant(name);
        Layer norm = data.withParameters(Parallelize.apply(build(data.about()), data.mesh(), plan));
        Tensor x = data.tensor("x").requiresGrad(true);
        data.compareAll(norm, x, norm.apply(x));
    }
}
