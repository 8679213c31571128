package org.tp4j.tests.conformance;

import java.util.List;
import java.util.Locale;
import org.tp4j.comm.World;
import org.tp4j.mesh.DeviceMesh;
import org.tp4j.tests.run.Job;
import org.tp4j.tests.run.Outcome;

/**
 * One case, run by whichever runner recognises it.
 *
 * @param about the case
 * @param runners who may
 */
record CaseJob(ReferenceCase about, List<CaseRunner> runners) implements Job {
    /** Largest difference relative to the largest element that counts as equal, as the vectors' README asks. */
    static final double TOLERANCE = 1e-5;

    @Override
    public String name() {
        return about.name();
    }

    @Override
    public Outcome run(World world) {
        CaseRunner runner =
                runners.stream().filter(r -> r.recognises(about)).findFirst().orElse(null);
        if (runner == null) {
            return Outcome.skip("no runner knows a case with the tensors "
                    + about.tensors().keySet().stream().limit(12).toList());
        }
        String why = runner.skips(about, world.size()).orElse(null);
        if (why != null) {
            return Outcome.skip(why);
        }
        try (CaseData data = new CaseData(about, DeviceMesh.of(world, "tp"))) {
            List<String> variants = runner.run(data);
            double error = data.differences().worst();
            return error <= TOLERANCE
                    ? Outcome.pass(error, String.join(", ", variants))
                    : Outcome.fail(
                            error,
                            String.format(
                                    Locale.ROOT,
                                    "%s differs by %.2e relative to its largest element, at most %.0e may",
                                    data.differences().where(),
                                    error,
                                    TOLERANCE));
        }
    }
}
