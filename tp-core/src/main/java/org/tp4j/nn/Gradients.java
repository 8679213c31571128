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
     * Sums what is pending: the gradients of parameters that were used differently on each rank of an axis, all of an axis
     * and type in one all-reduce. Collective. Optimizers and clipping call it themselves; once done it does nothing.
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

    /** The gradients there are, by parameter name, summed. */
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
