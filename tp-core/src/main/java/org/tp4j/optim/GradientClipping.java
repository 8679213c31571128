package org.tp4j.optim;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.tp4j.nn.Module;
import org.tp4j.nn.Parameter;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.UnaryFunction;

/**
 * Limits the norm of all gradients together (Pascanu et al., arXiv 1211.5063), as PyTorch's {@code clip_grad_norm_} does.
 *
 * <pre>{@code
 * loss.backward();
 * double norm = GradientClipping.byNorm(model, 1.0);
 * optimizer.step();
 * }</pre>
 *
 * <p>norm = (Σ |g|ᵖ)^(1/p) over every element of every parameter's gradient, counted once: a gradient's layout says
 * along which axes ranks hold different elements (Shard) and along which the same (Invariant). If norm &gt; max, every
 * gradient is multiplied by max / (norm + 1e-6) if that is below 1; otherwise nothing is written.
 *
 * <p>The deferred sums of gradients run first. Then comes one gather of a few FLOAT64 numbers per rank for each mesh axis that cuts
 * a parameter. Every rank gets the same bits and so takes the same decision. Tied parameters count once; those that are
 * frozen or have no gradient do not count.
 *
 * <p>A norm that is infinite or NaN clips nothing: the gradients stay as they are on every rank, and that norm is returned.
 * It is an error on request, and {@link Optimizer#stepIfFinite} skips such steps.
 *
 * <p>Each gradient's own sum is the backend's, in 64 bits or pairwise; the rest is FLOAT64. Relative error in FLOAT32: 1e-6.
 */
public final class GradientClipping {
    /** PyTorch's constant; avoids a division by 0. */
    private static final double IN_DIVISOR = 1e-6;

    private GradientClipping() {}

    /** Clips a model's gradients to a 2-norm of {@code maxNorm}; returns the norm they had. Collective. */
    public static double byNorm(Module model, double maxNorm) {
        return byNorm(model.parameters().values(), maxNorm, NormType.L2, false);
    }

    /** As {@link #byNorm(Collection, double, NormType, boolean)}; a norm that is not finite is not an error. */
    public static double byNorm(Collection<Parameter> parameters, double maxNorm, NormType type) {
        return byNorm(parameters, maxNorm, type, false);
    }

    /**
     * Clips gradients; returns the norm they had. Collective.
     *
     * @param maxNorm the largest norm that is not clipped
     * @param type which norm
     * @param errorIfNonFinite whether a norm that is infinite or NaN is an error
     * @throws IllegalArgumentException if {@code maxNorm} is negative or NaN
     * @throws NonFiniteGradientException on every rank, if requested and the norm is infinite or NaN; no gradient is changed
     */
    public static double byNorm(
            Collection<Parameter> parameters, double maxNorm, NormType type, boolean errorIfNonFinite) {
        if (!(maxNorm >= 0)) {
            throw new IllegalArgumentException("gradients cannot be clipped to a norm of " + maxNorm);
        }
        List<ReadyGradient> gradients = ReadyGradient.of(parameters);
        double norm = GradientNorm.of(gradients, type);
        if (!Double.isFinite(norm)) {
            if (errorIfNonFinite) {
                throw new NonFiniteGradientException(norm, nonFinite(gradients));
            }
            return norm;
        }
        double scale = maxNorm / (norm + IN_DIVISOR);
        if (norm > maxNorm && scale < 1) {
            for (ReadyGradient gradient : gradients) {
                NdArray local = gradient.local();
                local.backend().elementwise().unary(UnaryFunction.SCALE, local, local, scale, 0);
                local.storage().markChanged();
            }
        }
        return norm;
    }

    /** The norm of all gradients, which are not changed. Collective. */
    public static double norm(Collection<Parameter> parameters, NormType type) {
        return GradientNorm.of(ReadyGradient.of(parameters), type);
    }

    private static List<String> nonFinite(List<ReadyGradient> gradients) {
        List<String> names = new ArrayList<>();
        for (ReadyGradient gradient : gradients) {
            if (!Double.isFinite(GradientNorm.ofLocal(gradient))) {
                names.add(gradient.name());
            }
        }
        return names;
    }
}
