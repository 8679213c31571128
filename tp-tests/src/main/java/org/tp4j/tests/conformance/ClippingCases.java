package org.tp4j.tests.conformance;

import java.util.List;
import org.tp4j.nn.Parameter;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.NormType;

/** Clipping by the norm of all gradients, which counts sharded and whole ones once. */
final class ClippingCases implements CaseRunner {
    private static final String GRAD = ".grad";

    @Override
    public boolean recognises(ReferenceCase about) {
        return about.has("norm")
                && about.setting("max_norm") != null
                && about.tensors().keySet().stream().anyMatch(name -> name.endsWith(GRAD));
    }

    @Override
    public List<String> run(CaseData data) {
        for (BareParameters.Cut cut : BareParameters.Cut.values()) {
            BareParameters model = BareParameters.of(data, GRAD, cut);
            model.takeGradients(data, GRAD);
            double norm = GradientClipping.byNorm(
                    model.parameters().values(),
                    data.about().number("max_norm", 0),
                    NormType.of(data.about().number("norm_type", 2)));
            data.compare("norm", norm);
            for (Parameter parameter : model.parameters().values()) {
                data.compareGradient(parameter.name() + ".clipped", parameter.tensor());
            }
        }
        return BareParameters.Cut.titles();
    }
}
