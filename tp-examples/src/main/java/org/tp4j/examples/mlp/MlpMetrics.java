package org.tp4j.examples.mlp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A run as JSON, for programs. */
final class MlpMetrics {
    private MlpMetrics() {}

    static String json(RunFacts facts, TrainingResult result, @Nullable ParityCheck check) {
        MlpSettings settings = facts.settings();
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("accuracy", result.accuracy());
        all.put("final_loss", result.finalLoss());
        all.put("losses", result.losses());
        all.put("ranks", facts.ranks());
        all.put("launcher", facts.launcher());
        all.put("seconds", result.seconds());
        all.put("device", facts.deviceType());
        all.put("dtype", settings.dtypeName());
        all.put("samples_per_second", result.samplesPerSecond());
        all.put("parameters", facts.parameters());
        all.put("epochs", settings.epochs());
        all.put("batch", settings.batch());
        all.put("hidden", settings.hidden());
        all.put("learning_rate", settings.learningRate());
        all.put("dropout", settings.dropout());
        all.put("seed", settings.seed());
        all.put("train_samples", facts.trainImages());
        all.put("test_samples", facts.testImages());
        all.put(
                "accuracies",
                result.epochs().stream().map(TrainingResult.Epoch::accuracy).toList());
        all.put("step_losses", result.stepLosses());
        if (check != null) {
            Map<String, Object> parity = new LinkedHashMap<>();
            parity.put("passed", check.passed());
            put(parity, "", check.own());
            if (check.doubles() != null) {
                put(parity, "float64_", check.doubles());
            }
            all.put("check", parity);
        }
        try {
            return new ObjectMapper().writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void put(Map<String, Object> parity, String prefix, ParityCheck.Difference difference) {
        parity.put(prefix + "loss_difference", difference.loss());
        parity.put(prefix + "loss_bound", difference.lossBound());
        parity.put(prefix + "parameter_difference", difference.parameter());
        parity.put(prefix + "parameter_bound", difference.parameterBound());
        parity.put(prefix + "worst_parameter", difference.worst());
    }
}
