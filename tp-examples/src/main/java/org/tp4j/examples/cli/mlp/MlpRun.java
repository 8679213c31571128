package org.tp4j.examples.cli.mlp;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.examples.cli.OutputFile;
import org.tp4j.examples.mlp.Digits;
import org.tp4j.examples.mlp.MlpSettings;
import org.tp4j.examples.mlp.MlpTraining;
import org.tp4j.examples.parity.ParityCheck;
import org.tp4j.examples.parity.TrainedModel;
import org.tp4j.examples.report.MlpReport;
import org.tp4j.examples.report.ParameterShards;
import org.tp4j.examples.report.StepTrace;
import org.tp4j.examples.result.RunInfo;
import org.tp4j.examples.result.TrainingRecorder;
import org.tp4j.examples.result.TrainingResult;
import org.tp4j.mesh.DeviceMesh;

/**
 * The program of each rank: the training, then the check, the metrics and the report. Only rank 0 prints and writes.
 *
 * @param settings hyperparameters
 * @param check whether to compare with one rank
 * @param report where the report goes, or null
 * @param metrics where the metrics go, or null
 * @param console where rank 0 prints
 */
record MlpRun(
        MlpSettings settings,
        boolean check,
        @Nullable OutputFile report,
        @Nullable OutputFile metrics,
        TrainingConsole console) {
    /** Runs as one rank. Returns false if the check failed, which only rank 0 knows. */
    boolean run(World world) {
        boolean first = world.rank() == 0;
        CommunicationLog log = new CommunicationLog();
        boolean recording = first && report != null;
        ProcessGroup group = recording ? new RecordingGroup(world.group(), log) : world.group();
        DeviceMesh mesh = DeviceMesh.of(group, world.backend(), List.of(Map.entry("tp", world.size())));
        Digits digits = Digits.load();
        MlpTraining training = new MlpTraining(mesh, settings, digits);
        RunInfo info = RunInfo.of(world, settings, training.model(), digits);
        List<ParameterShards> shards = ParameterShards.of(training.model(), world.size());

        TrainingResult result =
                first ? trainOnConsole(training, info, shards) : train(training, new TrainingRecorder());
        List<CommunicationLog.Entry> calls = log.entries();
        ParityCheck parity = check ? compare(world, mesh, training, result, digits) : null;
        if (first && metrics != null) {
            metrics.write(MetricsJson.of(info, result, parity));
            console.printFile("metrics", metrics.path());
        }
        if (report != null) {
            Digits.Batch firstBatch =
                    digits.train().batches(settings.batch(), settings.seed(), 0).get(0);
            Map<String, List<CommunicationLog.Entry>> step = StepTrace.run(training, firstBatch, log);
            Digits.Batch test = digits.test().whole();
            long[] predicted = training.predict(test);
            if (first) {
                MlpReport page = new MlpReport(info, result, parity, shards, test, predicted, step, calls);
                report.write(page.html());
                console.printFile("report", report.path());
            }
        }
        return parity == null || parity.passed();
    }

    private TrainingResult trainOnConsole(MlpTraining training, RunInfo info, List<ParameterShards> shards) {
        console.printSettings(info);
        console.printPlan(shards, MlpTraining.PLAN);
        TrainingResult result;
        try (TrainingConsole.Progress progress =
                console.startProgress(settings.steps(info.trainImages()), settings.epochs())) {
            result = train(training, new TrainingRecorder(progress));
        }
        console.printResult(info, result);
        return result;
    }

    private static TrainingResult train(MlpTraining training, TrainingRecorder recorder) {
        training.train(recorder);
        return recorder.result();
    }

    private @Nullable ParityCheck compare(
            World world, DeviceMesh mesh, MlpTraining training, TrainingResult result, Digits digits) {
        if (world.rank() == 0) {
            console.printCheckStarted();
        }
        TrainedModel trained = TrainedModel.of(training.model(), result);
        ParityCheck parity = ParityCheck.run(world, mesh, trained, settings, digits);
        if (parity != null) {
            console.printCheck(parity);
        }
        return parity;
    }
}
