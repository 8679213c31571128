package org.tp4j.tests.conformance;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.nn.Module;
import org.tp4j.optim.Adam;
import org.tp4j.optim.AdamOptions;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.LearningRateSchedule;
import org.tp4j.optim.Optimizer;
import org.tp4j.optim.SGD;
import org.tp4j.optim.SgdOptions;
import org.tp4j.tensor.Tensor;

/** Optimizers: parameters through steps with given gradients, the values after each; whole and sharded. */
final class OptimizerCases implements CaseRunner {
    private static final String INIT = ".init";
    private static final double BETA1 = 0.9; // PyTorch's defaults, where a case says nothing
    private static final double BETA2 = 0.999;
    private static final double EPS = 1e-8;

    @Override
    public boolean recognises(ReferenceCase about) {
        return about.tensors().keySet().stream()
                .anyMatch(name -> name.endsWith(INIT)
                        && about.has(name.replace(INIT, ".grad.0"))
                        && about.has(name.replace(INIT, ".after.0")));
    }

    @Override
    public List<String> run(CaseData data) {
        for (BareParameters.Cut cut : BareParameters.Cut.values()) {
            BareParameters model = BareParameters.of(data, INIT, cut);
            Map<String, Tensor> initial = new LinkedHashMap<>();
            model.parameters().keySet().forEach(name -> initial.put(name, data.tensor(name + INIT)));
            model.loadState(initial);
            Optimizer optimizer = make(data.about(), model);
            for (int step = 0; data.about().has(initial.keySet().iterator().next() + ".grad." + step); step++) {
                model.takeGradients(data, ".grad." + step);
                optimizer.step();
                int at = step;
                model.state().forEach((name, value) -> data.compare(name + ".after." + at, value));
            }
        }
        return BareParameters.Cut.titles();
    }

    private static Optimizer make(ReferenceCase about, Module model) {
        double lr = about.number("lr", 1e-3);
        JsonNode betas = about.setting("betas");
        boolean adamW = Arrays.stream(about.descriptions()).anyMatch(words -> words.contains("adamw"));
        boolean adam = Arrays.stream(about.descriptions()).anyMatch(words -> words.contains("adam"));
        if (betas == null && !adam) {
            return new SGD(
                    model,
                    new SgdOptions(
                            LearningRateSchedule.constant(lr),
                            about.number("momentum", 0),
                            about.number("weight_decay", 0),
                            about.flag("nesterov")));
        }
        AdamOptions.Builder options = adamW ? AdamW.options() : Adam.options();
        if (about.setting("weight_decay") != null) {
            options.weightDecay(about.number("weight_decay", 0));
        }
        options.learningRate(lr)
                .eps(about.number("eps", EPS))
                .betas(
                        betas == null ? BETA1 : betas.path(0).asDouble(),
                        betas == null ? BETA2 : betas.path(1).asDouble());
        return adamW ? new AdamW(model, options.build()) : new Adam(model, options.build());
    }
}
