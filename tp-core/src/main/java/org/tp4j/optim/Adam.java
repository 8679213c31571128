package org.tp4j.optim;

import java.util.List;
import java.util.Map;
import org.tp4j.nn.Module;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;

/**
 * Adam (Kingma and Ba, arXiv 1412.6980, algorithm 1), in PyTorch's form. With λ = weight decay, η = learning rate, t = the
 * steps of the parameter from 1:
 *
 * <pre>
 * g ← g + λ w
 * m ← β₁ m + (1−β₁) g
 * v ← β₂ v + (1−β₂) g²
 * w ← w − η · m/(1−β₁ᵗ) / (√(v/(1−β₂ᵗ)) + ε)
 * </pre>
 *
 * <p>State per parameter: {@code m} and {@code v}.
 */
public final class Adam extends Optimizer {
    private static final double DEFAULT_DECAY = 0;

    private final AdamOptions options;

    /** Trains all parameters of a model at a fixed learning rate. */
    public Adam(Module model, double learningRate) {
        this(model, options().learningRate(learningRate).build());
    }

    /** Trains all parameters of a model. */
    public Adam(Module model, AdamOptions options) {
        this(List.of(ParameterGroup.of(model)), options);
    }

    /** Trains groups of parameters. */
    public Adam(List<ParameterGroup> groups, AdamOptions options) {
        super(groups, options.learningRate(), options.weightDecay(), List.of("m", "v"));
        this.options = options;
    }

    /** A builder of options; the weight decay is 0 unless set. */
    public static AdamOptions.Builder options() {
        return new AdamOptions.Builder(DEFAULT_DECAY);
    }

    @Override
    protected Map<String, Double> settings() {
        return Map.of("beta1", options.beta1(), "beta2", options.beta2(), "eps", options.eps());
    }

    @Override
    protected void update(ParameterUpdate next) {
        updateAll(List.of(next));
    }

    @Override
    protected void updateAll(List<ParameterUpdate> next) {
        OptimizerKernels kernels = next.get(0).parameter().backend().optimizer();
        kernels.adam(next, 1, options.beta1(), options.beta2(), options.eps(), false);
    }
}
