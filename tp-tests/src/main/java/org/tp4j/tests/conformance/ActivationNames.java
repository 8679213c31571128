package org.tp4j.tests.conformance;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.tp4j.nn.Layer;
import org.tp4j.tensor.Activation;
import org.tp4j.tensor.GradMode;
import org.tp4j.tests.run.Differences;

/** Which activation an MLP's case is about. */
final class ActivationNames {
    private ActivationNames() {}

    /** As its name, settings and description say; where they say nothing or differ, the one that comes nearest to its output. */
    static Activation of(CaseData data) {
        Set<Activation> named = EnumSet.noneOf(Activation.class);
        for (String words : data.about().descriptions()) {
            Activation one = named(words);
            if (one != null) {
                named.add(one);
            }
        }
        return named.size() == 1
                ? named.iterator().next()
                : nearest(data, named.isEmpty() ? EnumSet.allOf(Activation.class) : named);
    }

    /** The activation that a text names, in the words of PyTorch, Hugging Face or the papers. */
    static @Nullable Activation named(String words) {
        boolean tanh = words.contains("tanh") || words.contains("gelu_new") || words.contains("gelu_fast");
        if (words.contains("gelu") || words.contains("geglu")) {
            return tanh ? Activation.GELU_TANH : Activation.GELU;
        }
        if (words.contains("silu") || words.contains("swiglu") || words.contains("swish")) {
            return Activation.SILU;
        }
        return words.contains("relu") || words.contains("reglu") ? Activation.RELU : null;
    }

    @SuppressWarnings("try") // a mode that only lasts
    private static Activation nearest(CaseData data, Set<Activation> candidates) {
        double[] y = Differences.values(data.tensor("y"));
        boolean gated = data.about().has("param.gate_proj.weight");
        Activation best = Activation.RELU;
        double least = Double.POSITIVE_INFINITY;
        try (GradMode off = GradMode.noGrad()) {
            for (Activation candidate : candidates) {
                Layer model = data.withParameters(MlpCases.build(data.about(), candidate, gated));
                double difference =
                        Differences.relative(model.apply(data.tensor("x")).toDoubles(), y);
                if (difference < least) {
                    least = difference;
                    best = candidate;
                }
            }
        }
        return best;
    }
}
