package org.tp4j.examples.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.CommunicationLog.Entry;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpTraining;
import org.tp4j.nn.Gradients;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;

/** The collectives of one training step, by phase. */
@SuppressWarnings("try") // scopes that are only opened and closed
public final class StepTrace {
    private StepTrace() {}

    /**
     * Runs the forward and backward pass of one batch, without an update. Collective.
     *
     * @param log where this rank's calls are recorded; stays empty on ranks that record nothing
     * @return calls by phase
     */
    public static Map<String, List<Entry>> run(MlpTraining training, Digits.Batch batch, CommunicationLog log) {
        Map<String, List<Entry>> phases = new LinkedHashMap<>();
        training.model().train();
        training.model().clearGradients();
        try (Scope scope = Scope.open("trace")) {
            int begin = log.count();
            Tensor loss = training.loss(batch);
            begin = add(phases, "forward", log, begin);
            loss.backward();
            begin = add(phases, "backward", log, begin);
            Gradients.finish(training.model().parameters().values());
            add(phases, "deferred gradient sums", log, begin);
            training.model().clearGradients();
        }
        return phases;
    }

    private static int add(Map<String, List<Entry>> phases, String phase, CommunicationLog log, int begin) {
        List<Entry> all = log.entries();
        phases.put(phase, all.subList(begin, all.size()));
        return all.size();
    }
}
