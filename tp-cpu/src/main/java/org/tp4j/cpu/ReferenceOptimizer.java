package org.tp4j.cpu;

import org.jspecify.annotations.Nullable;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.OptimizerKernels;

/** Optimizer steps as their definitions read, for every floating type. */
final class ReferenceOptimizer implements OptimizerKernels {
    @Override
    public void sgd(
            NdArray parameter,
            @Nullable NdArray master,
            NdArray gradient,
            @Nullable NdArray momentumBuffer,
            boolean first,
            double gradScale,
            double learningRate,
            double momentum,
            double weightDecay,
            boolean nesterov) {
        Cells weights = Cells.of(master == null ? parameter : master);
        Cells rounded = Cells.of(parameter);
        Cells gradients = Cells.of(gradient);
        Cells velocity = momentumBuffer == null ? null : Cells.of(momentumBuffer);
        for (long i = 0; i < parameter.elements(); i++) {
            double w = weights.get(i);
            double g = gradScale * gradients.get(i) + weightDecay * w;
            if (velocity != null) {
                double v = first ? g : momentum * velocity.get(i) + g;
                velocity.set(i, v);
                g = nesterov ? g + momentum * v : v;
            }
            double next = w - learningRate * g;
            weights.set(i, next);
            if (master != null) {
                rounded.set(i, weights.get(i));
            }
        }
    }

    @Override
    public void adam(
            NdArray parameter,
            @Nullable NdArray master,
            NdArray gradient,
            NdArray m,
            NdArray v,
            long step,
            double gradScale,
            double learningRate,
            double beta1,
            double beta2,
            double eps,
            double weightDecay,
            boolean decoupled) {
        Cells weights = Cells.of(master == null ? parameter : master);
        Cells rounded = Cells.of(parameter);
        Cells gradients = Cells.of(gradient);
        Cells firstMoment = Cells.of(m);
        Cells secondMoment = Cells.of(v);
        double correction1 = 1 - Math.pow(beta1, step);
        double correction2 = 1 - Math.pow(beta2, step);
        for (long i = 0; i < parameter.elements(); i++) {
            double w = weights.get(i);
            double g = gradScale * gradients.get(i);
            if (decoupled) {
                w *= 1 - learningRate * weightDecay;
            } else {
                g += weightDecay * w;
            }
            double nextM = beta1 * firstMoment.get(i) + (1 - beta1) * g;
            double nextV = beta2 * secondMoment.get(i) + (1 - beta2) * g * g;
            firstMoment.set(i, nextM);
            secondMoment.set(i, nextV);
            double next = w - learningRate * (nextM / correction1) / (Math.sqrt(nextV / correction2) + eps);
            weights.set(i, next);
            if (master != null) {
                rounded.set(i, weights.get(i));
            }
        }
    }
}
