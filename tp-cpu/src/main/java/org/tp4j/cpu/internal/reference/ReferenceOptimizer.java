package org.tp4j.cpu.internal.reference;

import java.util.List;
import org.tp4j.cpu.internal.memory.ElementAccess;
import org.tp4j.tensor.NdArray;
import org.tp4j.tensor.OptimizerKernels;
import org.tp4j.tensor.ParameterUpdate;

/** Optimizer steps as their definitions read, for every floating type. */
public final class ReferenceOptimizer implements OptimizerKernels {
    @Override
    public void sgd(List<ParameterUpdate> updates, double gradScale, double momentum, boolean nesterov) {
        updates.forEach(u -> sgd(u, gradScale, momentum, nesterov));
    }

    private static void sgd(ParameterUpdate u, double gradScale, double momentum, boolean nesterov) {
        NdArray parameter = u.parameter();
        NdArray master = u.master();
        NdArray gradient = u.gradient();
        NdArray momentumBuffer = u.state().isEmpty() ? null : u.state().get(0);
        boolean first = u.step() == 1;
        double learningRate = u.learningRate();
        double weightDecay = u.weightDecay();
        ElementAccess weights = ElementAccess.of(master == null ? parameter : master);
        ElementAccess rounded = ElementAccess.of(parameter);
        ElementAccess gradients = ElementAccess.of(gradient);
        ElementAccess velocity = momentumBuffer == null ? null : ElementAccess.of(momentumBuffer);
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
            List<ParameterUpdate> updates,
            double gradScale,
            double beta1,
            double beta2,
            double eps,
            boolean decoupled) {
        updates.forEach(u -> adam(u, gradScale, beta1, beta2, eps, decoupled));
    }

    private static void adam(
            ParameterUpdate u, double gradScale, double beta1, double beta2, double eps, boolean decoupled) {
        NdArray parameter = u.parameter();
        NdArray master = u.master();
        NdArray gradient = u.gradient();
        NdArray m = u.state().get(0);
        NdArray v = u.state().get(1);
        double learningRate = u.learningRate();
        double weightDecay = u.weightDecay();
        ElementAccess weights = ElementAccess.of(master == null ? parameter : master);
        ElementAccess rounded = ElementAccess.of(parameter);
        ElementAccess gradients = ElementAccess.of(gradient);
        ElementAccess firstMoment = ElementAccess.of(m);
        ElementAccess secondMoment = ElementAccess.of(v);
        double correction1 = 1 - Math.pow(beta1, u.step());
        double correction2 = 1 - Math.pow(beta2, u.step());
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
