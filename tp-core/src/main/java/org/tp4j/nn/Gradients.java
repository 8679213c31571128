package org.tp4j.nn;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.autograd.internal.PendingGradients;
import org.tp4j.tensor.Tensor;

/** The deferred sums of gradients. */
public final class Gradients {
    private Gradients() {}

    /**
     * Runs the deferred sums: those of gradients of parameters that were used differently on each rank of an axis, one
     * all-reduce per axis and type. Collective and idempotent. Optimizers and clipping call it themselves.
     */
    public static void finish(Collection<Parameter> parameters) {
        List<Tensor> tensors = new ArrayList<>();
        for (Parameter parameter : parameters) {
            if (parameter.isMaterialized()) {
                tensors.add(parameter.tensor());
            }
        }
        PendingGradients.sum(tensors);
    }

    /** The gradients that are present, by parameter name, summed. Collective. */
    public static Map<String, Tensor> of(Module model) {
        finish(model.parameters().values());
        Map<String, Tensor> result = new LinkedHashMap<>();
        model.parameters().forEach((name, parameter) -> {
            Tensor grad = parameter.tensor().grad();
            if (grad != null) {
                result.put(name, grad);
            }
        });
        return result;
    }
}
