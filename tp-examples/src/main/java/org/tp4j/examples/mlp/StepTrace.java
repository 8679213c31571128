package org.tp4j.examples.mlp;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.CommunicationLog.Entry;
import org.tp4j.nn.Gradients;
import org.tp4j.tensor.Scope;
import org.tp4j.tensor.Tensor;

/** What one training step communicates, by phase. */
@SuppressWarnings("try") // scopes that only own
final class StepTrace {
    private StepTrace() {}

    /**
     * Runs forward and backward of one batch and leaves the model as it was. Collective.
     *
     * @param log what this rank's calls are recorded in; stays empty on ranks that record nothing
     * @return calls by phase
     */
    static Map<String, List<Entry>> run(MlpTraining training, CommunicationLog log) {
        Map<String, List<Entry>> phases = new LinkedHashMap<>();
        training.model().train();
        training.model().clearGradients();
        try (Scope scope = Scope.open("trace")) {
            int begin = log.count();
            Tensor loss = training.loss(training.firstBatch());
            begin = note(phases, "forward", log, begin);
            loss.backward();
            begin = note(phases, "backward", log, begin);
            Gradients.finish(training.model().parameters().values());
            note(phases, "deferred gradient sums", log, begin);
            training.model().clearGradients();
        }
        return phases;
    }

    private static int note(Map<String, List<Entry>> phases, String phase, CommunicationLog log, int begin) {
        List<Entry> all = log.entries();
        phases.put(phase, all.subList(begin, all.size()));
        return all.size();
    }
}
