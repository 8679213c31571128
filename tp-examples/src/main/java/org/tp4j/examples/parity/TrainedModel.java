package org.tp4j.examples.parity;

import java.util.LinkedHashMap;
import java.util.Map;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.examples.mlp.MlpTraining;
import org.tp4j.examples.result.TrainingRecorder;
import org.tp4j.examples.result.TrainingResult;
import org.tp4j.layout.DTensor;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.nn.Module;
import org.tp4j.tensor.GradMode;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;

/**
 * The outcome of a training with all parameters gathered.
 *
 * @param result losses and accuracies
 * @param parameters whole parameter values by name
 */
@SuppressWarnings("try") // scopes that are only opened and closed
public record TrainedModel(TrainingResult result, Map<String, double[]> parameters) {
    /** Trains on the mesh from scratch. Collective over its ranks. */
    public static TrainedModel train(DeviceMesh mesh, MlpSettings settings, Digits digits) {
        MlpTraining training = new MlpTraining(mesh, settings, digits);
        TrainingRecorder recorder = new TrainingRecorder();
        training.train(recorder);
        return of(training.model(), recorder.result());
    }

    /** Gathers the parameters of a trained model. Collective over the ranks that hold them. */
    public static TrainedModel of(Module model, TrainingResult result) {
        Map<String, double[]> values = new LinkedHashMap<>();
        try (Scope scope = Scope.open("gather parameters");
                GradMode off = GradMode.noGrad()) {
            model.state().forEach((name, tensor) -> {
                Tensor whole = tensor instanceof DTensor sharded ? sharded.fullTensor() : tensor;
                values.put(name, whole.toDoubles());
            });
        }
        return new TrainedModel(result, values);
    }
}
