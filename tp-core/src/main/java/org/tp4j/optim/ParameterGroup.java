package org.tp4j.optim;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;

/**
 * Parameters with a learning rate or weight decay of their own.
 *
 * <pre>{@code
 * Optimizer optimizer = new AdamW(
 *         ParameterGroup.withoutDecayOfVectors(model), AdamW.options().learningRate(3e-4).weightDecay(0.1).build());
 * }</pre>
 *
 * @param parameters by name
 * @param rateFactor what the optimizer's learning rate is multiplied by
 * @param weightDecay replaces the optimizer's; null for the optimizer's
 */
public record ParameterGroup(
        Map<String, Parameter> parameters,
        double rateFactor,
        @Nullable Double weightDecay) {
    /** Checks the numbers. */
    public ParameterGroup {
        parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
        Checks.notNegative("the rate factor of a parameter group", rateFactor);
        if (weightDecay != null) {
            Checks.notNegative("the weight decay of a parameter group", weightDecay);
        }
    }

    /** These parameters, with the optimizer's options. */
    public static ParameterGroup of(Map<String, Parameter> parameters) {
        return new ParameterGroup(parameters, 1, null);
    }

    /** All parameters of a model. */
    public static ParameterGroup of(Module model) {
        return of(model.parameters());
    }

    /** The parameters of a model that satisfy a condition on name and parameter. */
    public static ParameterGroup of(Module model, BiPredicate<String, Parameter> condition) {
        Map<String, Parameter> chosen = new LinkedHashMap<>();
        model.parameters().forEach((name, parameter) -> {
            if (condition.test(name, parameter)) {
                chosen.put(name, parameter);
            }
        });
        return of(chosen);
    }

    /** A model in two groups: parameters of two dimensions or more decay; biases and the weights of norms do not. */
    public static List<ParameterGroup> withoutDecayOfVectors(Module model) {
        return List.of(
                of(model, (name, parameter) -> parameter.shape().dims() >= 2),
                of(model, (name, parameter) -> parameter.shape().dims() < 2).withWeightDecay(0));
    }

    /** The same with the learning rate multiplied by {@code factor}. */
    public ParameterGroup withRateFactor(double factor) {
        return new ParameterGroup(parameters, factor, weightDecay);
    }

    /** The same with a weight decay of its own. */
    public ParameterGroup withWeightDecay(double decay) {
        return new ParameterGroup(parameters, rateFactor, decay);
    }
}
