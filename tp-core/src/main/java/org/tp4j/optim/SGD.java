package org.tp4j.optim;

import java.util.List;
import java.util.Map;
import org.tp4j.nn.Module;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;

/**
 * Stochastic gradient descent with momentum (Sutskever et al., ICML 2013), in PyTorch's form. With λ = weight decay, μ =
 * momentum, η = learning rate:
 *
 * <pre>
 * g ← g + λ w
 * u ← μ u + g          (u = g at a parameter's first step)
 * w ← w − η u          (Nesterov: w − η (g + μ u); without momentum: w − η g)
 * </pre>
 *
 * <p>State per parameter: {@code momentum}, only with momentum.
 */
public final class SGD extends Optimizer {
    private final SgdOptions options;

    /** Plain descent of all parameters of a model. */
    public SGD(Module model, double learningRate) {
        this(model, SgdOptions.of(learningRate));
    }

    /** Trains all parameters of a model. */
    public SGD(Module model, SgdOptions options) {
        this(List.of(ParameterGroup.of(model)), options);
    }

    /** Trains groups of parameters. */
    public SGD(List<ParameterGroup> groups, SgdOptions options) {
        super(
                groups,
                options.learningRate(),
                options.weightDecay(),
                options.momentum() == 0 ? List.of() : List.of("momentum"));
        this.options = options;
    }

    @Override
    protected Map<String, Double> settings() {
        return Map.of("momentum", options.momentum(), "nesterov", options.nesterov() ? 1.0 : 0.0);
    }

    @Override
    protected void update(ParameterUpdate next) {
        updateAll(List.of(next));
    }

    @Override
    protected void updateAll(List<ParameterUpdate> next) {
        OptimizerKernels kernels = next.get(0).parameter().backend().optimizer();
        kernels.sgd(next, 1, options.momentum(), options.nesterov());
    }
}
