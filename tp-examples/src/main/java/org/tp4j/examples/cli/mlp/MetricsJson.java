package org.tp4j.examples.cli.mlp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.examples.parity.ParityCheck;
import org.tp4j.examples.parity.TrainingDifference;
import org.tp4j.examples.result.RunInfo;
import org.tp4j.examples.result.TrainingResult;

/** The metrics of a run as JSON. */
final class MetricsJson {
    private MetricsJson() {}

    static String of(RunInfo info, TrainingResult result, @Nullable ParityCheck check) {
        MlpSettings settings = info.settings();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("accuracy", result.accuracy());
        all.put("final_loss", result.finalLoss());
        all.put("losses", result.losses());
        all.put("ranks", info.ranks());
        all.put("launcher", info.launcher());
        all.put("seconds", result.seconds());
        all.put("device", info.deviceType());
        all.put("dtype", MlpArguments.TypeName.of(settings.dtype()).name());
        all.put("samples_per_second", result.samplesPerSecond());
        all.put("parameters", info.parameters());
        all.put("epochs", settings.epochs());
        all.put("batch", settings.batch());
        all.put("hidden", settings.hidden());
        all.put("learning_rate", settings.learningRate());
        all.put("dropout", settings.dropout());
        all.put("seed", settings.seed());
        all.put("train_samples", info.trainImages());
        all.put("test_samples", info.testImages());
        all.put("accuracies", result.accuracies());
        all.put("step_losses", result.stepLosses());
        if (check != null) {
            Map<String, Object> parity = new LinkedHashMap<>();
            parity.put("passed", check.passed());
            put(parity, "", check.asTrained());
            if (check.inFloat64() != null) {
                put(parity, "float64_", check.inFloat64());
            }
            all.put("check", parity);
        }
        try {
            return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void put(Map<String, Object> parity, String prefix, TrainingDifference difference) {
        parity.put(prefix + "loss_difference", difference.loss());
        parity.put(prefix + "loss_bound", difference.lossBound());
        parity.put(prefix + "parameter_difference", difference.parameter());
        parity.put(prefix + "parameter_bound", difference.parameterBound());
        parity.put(prefix + "worst_parameter", difference.worstParameter());
    }
}
