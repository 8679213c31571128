package org.tp4j.tests.parity;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.nn.Gradients;
import org.tp4j.nn.Layer;
import org.tp4j.optim.AdamW;
import org.tp4j.optim.GradientClipping;
import org.tp4j.optim.NormType;
import org.tp4j.optim.Optimizer;
import org.tp4j.tensor.Backend;
import org.tp4j.tensor.DType;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;
import org.tp4j.tests.run.Differences;

/**
 * What a training run gave, as whole tensors.
 *
 * @param initial parameters before the first step
 * @param output of the first step
 * @param gradients of the first step, of the parameters and of the input
 * @param norm of all parameters' gradients in the first step
 * @param losses of all steps
 * @param parameters after the last step
 */
@SuppressWarnings("try") // a scope that only owns
record TrainingRun(
        Map<String, double[]> initial,
        double[] output,
        Map<String, double[]> gradients,
        double norm,
        List<Double> losses,
        Map<String, double[]> parameters) {
    /** How many steps are trained. */
    static final int STEPS = 20;

    private static final double LEARNING_RATE = 1e-2;
    private static final double DECAY = 0.1;
    private static final long SEED = 3;

    /** Trains a model, placed or not. Collective if it is. */
    static TrainingRun of(Task task, Layer model, Backend backend, DType dtype) {
        model.materialize(backend, dtype, SEED);
        Map<String, double[]> initial = values(model.state());
        Tensor input = task.input(backend, dtype);
        Tensor target = task.target(backend, dtype);
        Optimizer optimizer = new AdamW(
                model,
                AdamW.options().learningRate(LEARNING_RATE).weightDecay(DECAY).build());
        double[] output = {};
        Map<String, double[]> gradients = Map.of();
        double norm = 0;
        List<Double> losses = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            try (Scope scope = Scope.open("step")) {
                model.beginStep(step);
                optimizer.clearGradients();
                input.clearGrad();
                Tensor y = model.apply(input);
                Tensor loss = task.loss(y, target);
                loss.backward();
                losses.add(Differences.values(loss)[0]);
                if (step == 0) {
                    output = Differences.values(y);
                    gradients = values(Gradients.of(model));
                    Tensor inputGradient = input.grad();
                    if (inputGradient != null) {
                        gradients.put("input", Differences.values(inputGradient));
                    }
                    norm = GradientClipping.norm(model.parameters().values(), NormType.L2);
                }
                optimizer.step();
            }
        }
        return new TrainingRun(initial, output, gradients, norm, losses, values(model.state()));
    }

    private static Map<String, double[]> values(Map<String, Tensor> tensors) {
        Map<String, double[]> values = new LinkedHashMap<>();
        tensors.forEach((name, tensor) -> values.put(name, Differences.values(tensor)));
        return values;
    }
}
