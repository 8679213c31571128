package org.tp4j.examples.mlp;

import static org.tp4j.examples.report.Html.format;

import java.io.PrintStream;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.tp4j.comm.ProcessGroup;
import org.tp4j.comm.World;
import org.tp4j.comm.record.CommunicationLog;
import org.tp4j.comm.record.RecordingGroup;
import org.tp4j.examples.cli.OutputFile;
import org.tp4j.examples.report.ParameterShards;
import org.tp4j.mesh.DeviceMesh;

/**
 * What each rank runs: the training, and around it what the command adds. Rank 0 alone prints and writes.
 *
 * @param settings what is trained
 * @param check whether one rank trains beside it
 * @param report where the page goes, or null
 * @param metrics where the numbers go, or null
 * @param out for rank 0's words
 * @param err for its progress
 */
record MlpRun(
        MlpSettings settings,
        boolean check,
        @Nullable OutputFile report,
        @Nullable OutputFile metrics,
        PrintStream out,
        PrintStream err) {
    /** Runs as one rank; false if the check found too large a difference (which rank 0 alone knows). */
    boolean run(World world) {
        boolean first = world.rank() == 0;
        CommunicationLog log = new CommunicationLog();
        boolean recording = first && report != null;
        ProcessGroup group = recording ? new RecordingGroup(world.group(), log) : world.group();
        DeviceMesh mesh = DeviceMesh.of(group, world.backend(), List.of(Map.entry("tp", world.size())));
        Digits digits = Digits.load();
        MlpTraining training = new MlpTraining(mesh, settings, digits);
        RunFacts facts = RunFacts.of(world, settings, training, digits);
        List<ParameterShards> shards = ParameterShards.of(training.model(), world.size());

        TrainingResult result;
        if (first) {
            MlpConsole.introduce(out, facts);
            MlpConsole.showPlan(out, shards, MlpTraining.PLAN);
            long steps = settings.steps(digits.train().size());
            try (MlpConsole console = new MlpConsole(out, err, "training", steps, settings.epochs())) {
                result = training.train(console);
            }
            conclude(facts, result);
        } else {
            result = training.train(TrainingListener.SILENT);
        }

        List<CommunicationLog.Entry> calls = log.entries();
        ParityCheck compared = check ? compare(world, training, result, digits) : null;
        if (first && metrics != null) {
            metrics.write(MlpMetrics.json(facts, result, compared));
            out.println("metrics    " + metrics.path());
        }
        if (report != null) {
            Map<String, List<CommunicationLog.Entry>> step = StepTrace.run(training, log);
            Digits.Batch test = digits.test().whole();
            long[] predicted = training.predict(test);
            if (first) {
                MlpReport page = new MlpReport(facts, result, compared, shards, test, predicted, step, calls);
                report.write(page.html());
                out.println("report     " + report.path());
            }
        }
        return compared == null || compared.passed();
    }

    private void conclude(RunFacts facts, TrainingResult result) {
        out.println();
        out.println(format(
                "accuracy   %.4f on %d images never seen; loss %.4f",
                result.accuracy(), facts.testImages(), result.finalLoss()));
        out.println(
                format("speed      %,.0f samples a second, %.1f seconds", result.samplesPerSecond(), result.seconds()));
    }

    private @Nullable ParityCheck compare(World world, MlpTraining training, TrainingResult result, Digits digits) {
        if (world.rank() == 0) {
            out.println("check      training once more on one rank ...");
        }
        ParityCheck compared = ParityCheck.run(world, training, result, settings, digits);
        if (compared != null) {
            show(compared.own());
            if (compared.doubles() != null) {
                out.println("check      rounding may have grown to that; one epoch in float64, where it cannot:");
                show(compared.doubles());
            }
            out.println("check      " + (compared.passed() ? "passed" : "FAILED: the ranks compute something else"));
        }
        return compared;
    }

    private void show(ParityCheck.Difference difference) {
        out.println(format(
                "check      largest difference in losses %.1e (bound %.0e), in parameters %.1e (bound %.0e; %s)",
                difference.loss(),
                difference.lossBound(),
                difference.parameter(),
                difference.parameterBound(),
                difference.worst()));
    }
}
